//! Log lines of the libraries that run controllers: controller-runtime and leader election.

use super::normal;
use crate::entry::LogLevel;
use crate::vocabulary::id::MessageId;
use crate::vocabulary::message::{Message, Text, line};

pub(super) const MESSAGES: &[Message] = &[
    normal(
        line(LogLevel::Info, Text::Is("Starting workers"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T11:21:39.071Z","logger":"controller","message":"Starting workers","commit":"ad71530","controller":"provisioner","namespace":"","name":"","reconcileID":"5a21ba67-3c5e-4b7a-9d21-7e4c00161cd9","worker count":10}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Starting Controller"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T12:28:52.208Z","logger":"controller","message":"Starting Controller","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Starting EventSource"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T13:35:05.345Z","logger":"controller","message":"Starting EventSource","commit":"ad71530","source":"kind source: *v1.NodePool"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Starting metrics server"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T14:42:18.482Z","logger":"controller","message":"Starting metrics server","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("starting server"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T15:49:31.619Z","logger":"controller","message":"starting server","commit":"ad71530","name":"health probe","addr":"[::]:8081"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Starting server"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T16:56:44.756Z","logger":"controller","message":"Starting server","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Serving metrics server"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T08:03:57.893Z","logger":"controller","message":"Serving metrics server","commit":"ad71530","bindAddress":":8080"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Stopping and waiting for non leader election runnables"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T09:10:10.030Z","logger":"controller","message":"Stopping and waiting for non leader election runnables","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Stopping and waiting for leader election runnables"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T10:17:23.167Z","logger":"controller","message":"Stopping and waiting for leader election runnables","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Stopping and waiting for warmup runnables"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T11:24:36.304Z","logger":"controller","message":"Stopping and waiting for warmup runnables","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Stopping and waiting for caches"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T12:31:49.441Z","logger":"controller","message":"Stopping and waiting for caches","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Stopping and waiting for webhooks"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T13:38:02.578Z","logger":"controller","message":"Stopping and waiting for webhooks","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Stopping and waiting for HTTP servers"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T14:45:15.715Z","logger":"controller","message":"Stopping and waiting for HTTP servers","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Wait completed, proceeding to shutdown the manager"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T15:52:28.852Z","logger":"controller","message":"Wait completed, proceeding to shutdown the manager","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(
            LogLevel::Info,
            Text::Is("Shutdown signal received, waiting for all workers to finish"),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2025-03-20T16:59:41.989Z","logger":"controller","message":"Shutdown signal received, waiting for all workers to finish","commit":"ad71530","controller":"provisioner","namespace":"","name":"","reconcileID":"5a21efd5-3c5e-4b7a-9d21-7e4c0017cdeb"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("All workers finished"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T08:06:54.126Z","logger":"controller","message":"All workers finished","commit":"ad71530","controller":"provisioner","namespace":"","name":"","reconcileID":"5a21f3a6-3c5e-4b7a-9d21-7e4c0017ecda"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("shutting down server"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T09:13:07.263Z","logger":"controller","message":"shutting down server","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Shutting down metrics server with timeout of 1 minute"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T10:20:20.400Z","logger":"controller","message":"Shutting down metrics server with timeout of 1 minute","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("webhook disabled"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T11:27:33.537Z","logger":"controller","message":"webhook disabled","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("conversion webhooks are disabled"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T12:34:46.674Z","logger":"controller","message":"conversion webhooks are disabled","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Unable to read vcs.revision from binary"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T13:41:59.811Z","logger":"controller","message":"Unable to read vcs.revision from binary","commit":"ad71530"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go and pkg/internal/controller/controller.go",
    ),
    normal(
        line(LogLevel::Info, Text::Starts("attempting to acquire leader lease "), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T14:48:12.948Z","logger":"controller","message":"attempting to acquire leader lease kube-system/karpenter-leader-election...","commit":"ad71530"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Attempting to acquire leader lease..."), Text::Any),
        r#"{"level":"INFO","time":"2025-10-21T15:55:25.085Z","logger":"controller","message":"Attempting to acquire leader lease...","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go",
    ),
    normal(
        line(LogLevel::Info, Text::Starts("successfully acquired lease "), Text::Any)
            .id(MessageId::LeaseAcquired),
        r#"{"level":"INFO","time":"2025-03-20T16:02:38.222Z","logger":"controller","message":"successfully acquired lease kube-system/karpenter-leader-election","commit":"ad71530"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go",
    ),
    normal(
        line(LogLevel::Info, Text::Is("Successfully acquired lease"), Text::Any),
        r#"{"level":"INFO","time":"2025-10-21T08:09:51.359Z","logger":"controller","message":"Successfully acquired lease","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go",
    ),
    normal(
        line(LogLevel::Info, Text::Starts("new leader elected"), Text::Any),
        r#"{"level":"INFO","time":"2025-03-20T09:16:04.496Z","logger":"controller","message":"new leader elected: karpenter-7c9","commit":"ad71530"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go",
    ),
    normal(
        line(
            LogLevel::Error,
            Text::Is("error received after stop sequence was engaged"),
            Text::Has(&["leader election lost"]),
        ),
        r#"{"level":"ERROR","time":"2025-03-20T09:16:04.496Z","logger":"controller","message":"error received after stop sequence was engaged","commit":"ad71530","error":"leader election lost"}"#,
        "sigs.k8s.io/controller-runtime pkg/manager/internal.go, `engageStopProcedure`",
    ),
    // On SIGTERM the leader ends the loop in the same way.
    normal(
        line(
            LogLevel::Info,
            Text::HasBut(&["failed to renew lease "], &["context deadline exceeded"]),
            Text::Any,
        ),
        r#"{"level":"INFO","time":"2025-03-20T09:16:04.496Z","logger":"controller","message":"failed to renew lease kube-system/karpenter-leader-election: timed out waiting for the condition","commit":"ad71530"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go, `renew`",
    ),
    normal(
        line(LogLevel::Info, Text::Starts("Failed to renew lease"), Text::Has(&["context canceled"])),
        r#"{"level":"INFO","time":"2025-10-21T09:16:04.496Z","logger":"controller","message":"Failed to renew lease","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election","err":"context canceled"}"#,
        "k8s.io/client-go tools/leaderelection/leaderelection.go, `renew`",
    ),
];
