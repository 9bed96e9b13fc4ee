locals { a = 1 }
#== main.tf.json
{ "locals": { "b": "${local.a}-\u00e9\ud83d\ude00 \/ ${join(\"\\n\", [\"x${\"y\"}\"])}", "c": [1, null, {"d": "%{ if true }e%{ endif }"}] },
  "variable": { "v": { "type": "list(string)", "default": ["${x}"] } },
  "resource": { "a": { "b": [{ "v": "${local.b}", "s": [{ "n": "${var.v[0]}" }],
    "dynamic": { "t": { "for_each": "${[1, 2]}", "content": { "w": "${t.value}" } } } }] } } }
#== z_override.tf
locals { a = 2 }
resource "a" "b" {
  v = [local.a]
  s { n = 1 }
}
resource "a" "absent" {}
