//! Root modules that make objects, themselves or through other modules.

use insta::assert_snapshot;

use crate::shown;

#[test]
fn a_root_makes_objects_through_modules_of_modules() {
    let call = |folder: &str, name: &str| {
        format!("module \"m\" {{\n  source = \"{folder}\"\n  name   = {name}\n}}\n")
    };
    let (main, outer) =
        (call("./outer", "\"a\""), format!("variable \"name\" {{}}\n{}", call("../inner", "var.name")));
    let inner = "variable \"name\" {}\nresource \"kubectl_manifest\" \"a\" {\n  yaml_body = yamlencode({ kind = \"A\", name = var.name })\n}\n";
    let files = [
        ("main.tf", main.as_str()),
        ("outer/main.tf", outer.as_str()),
        ("inner/main.tf", inner),
        ("other/main.tf", "module \"m\" {\n  source = \"./m\"\n  name = [\n}\n"),
        ("other/m/main.tf", "locals {}\n"),
    ];
    assert_snapshot!(shown(&files, &[]), @r#"
    --- inner/main.tf:3
    .kind = "A" @3:35
    .name = "a" @3:47 from "var.name"
    "#);
}
