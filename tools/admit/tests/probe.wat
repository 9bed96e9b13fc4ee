;; A waPC guest for tests of the host. The first character of the operation selects what it does:
;;   #  answers the number of calls of this instance (one digit)
;;   @  loops for ever
;;   !  traps
;;   ?  returns the payload as an error
;;   =  answers with the payload
;;   ~  calls the host: kubewarden, tracing, the rest of the operation
;;   other: calls the host: kubewarden, kubernetes, the operation
;; The answer to a host call is the guest's answer, and the host's error is its error.
(module
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $respond (param i32 i32)))
  (import "wapc" "__guest_error" (func $fail (param i32 i32)))
  (import "wapc" "__host_call" (func $host_call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wapc" "__host_response_len" (func $answer_len (result i32)))
  (import "wapc" "__host_response" (func $answer (param i32)))
  (import "wapc" "__host_error_len" (func $error_len (result i32)))
  (import "wapc" "__host_error" (func $error (param i32)))
  (memory (export "memory") 4)
  (data (i32.const 0) "kubewarden")
  (data (i32.const 16) "kubernetes")
  (data (i32.const 32) "tracing")
  (global $calls (mut i32) (i32.const 0))

  (func (export "wapc_init"))

  (func (export "__guest_call") (param $op_len i32) (param $len i32) (result i32)
    (local $first i32)
    (call $request (i32.const 64) (i32.const 1024))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (local.set $first (i32.load8_u (i32.const 64)))

    (if (i32.eq (local.get $first) (i32.const 0x23)) ;; #
      (then
        (i32.store8 (i32.const 512) (i32.add (i32.const 48) (global.get $calls)))
        (call $respond (i32.const 512) (i32.const 1))
        (return (i32.const 1))))
    (if (i32.eq (local.get $first) (i32.const 0x40)) ;; @
      (then (loop $forever (br $forever))))
    (if (i32.eq (local.get $first) (i32.const 0x21)) ;; !
      (then unreachable))
    (if (i32.eq (local.get $first) (i32.const 0x3f)) ;; ?
      (then
        (call $fail (i32.const 1024) (local.get $len))
        (return (i32.const 0))))
    (if (i32.eq (local.get $first) (i32.const 0x3d)) ;; =
      (then
        (call $respond (i32.const 1024) (local.get $len))
        (return (i32.const 1))))
    (if (i32.eq (local.get $first) (i32.const 0x7e)) ;; ~
      (then
        (return (call $ask (i32.const 32) (i32.const 7)
          (i32.const 65) (i32.sub (local.get $op_len) (i32.const 1)) (local.get $len)))))
    (call $ask (i32.const 16) (i32.const 10) (i32.const 64) (local.get $op_len) (local.get $len)))

  (func $ask (param $namespace i32) (param $namespace_len i32) (param $op i32) (param $op_len i32) (param $len i32)
    (result i32)
    (if (call $host_call (i32.const 0) (i32.const 10) (local.get $namespace) (local.get $namespace_len)
          (local.get $op) (local.get $op_len) (i32.const 1024) (local.get $len))
      (then
        (call $answer (i32.const 65536))
        (call $respond (i32.const 65536) (call $answer_len))
        (return (i32.const 1))))
    (call $error (i32.const 65536))
    (call $fail (i32.const 65536) (call $error_len))
    (i32.const 0)))
