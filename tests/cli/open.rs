//! `karpwarden open`: the page on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::folder::{BAD, Folder, GOOD};
use crate::guard::Guard;

/// A server that ends with the test.
struct Server {
    process: Child,
    _guard: Guard,
    port: u16,
    path: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Server {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
        command.arg("open").args(arguments).current_dir(folder.path(""));
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let guard = Guard::of(&process);
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.split_once("http://127.0.0.1:").unwrap_or_else(|| panic!("{line}"));
        let (port, path) = address.split_once('/').unwrap();
        let path = format!("/{}", path.split(' ').next().unwrap());
        Self { port: port.parse().unwrap(), path, process, _guard: guard }
    }

    /// The status, the head and the body of an answer.
    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    fn get(&self, below: &str) -> String {
        let (status, _, body) =
            self.ask("GET", &format!("{}{below}", self.path), &format!("127.0.0.1:{}", self.port));
        assert_eq!(status, 200, "{body}");
        body
    }
}

#[test]
fn serves_the_current_page_to_this_computer_alone() {
    let folder = Folder::with(&[("in/a.yaml", BAD)]);
    let server = Server::start(&folder, &["in", "--at", "2026-03-11T10:30:00Z"]);
    let host = format!("127.0.0.1:{}", server.port);
    let (status, head, page) = server.ask("GET", &server.path, &host);
    assert_eq!(status, 200);
    for line in [
        "content-type: text/html; charset=utf-8",
        "cache-control: no-store",
        "content-security-policy: frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert!(page.contains("connect-src 'self'"));
    assert!(page.contains("instance-profile-is-arn"));
    let mark = server.get("mark");
    assert!(page.contains(&format!(r#""mark":"{mark}""#)));

    assert_eq!(server.ask("GET", &server.path, "rebound.example").0, 403);
    assert_eq!(server.ask("POST", &server.path, &host).0, 405);
    assert_eq!(server.ask("GET", "/", &host).0, 404);
    assert_eq!(server.ask("GET", &format!("{}a.yaml", server.path), &host).0, 404);
    let (status, _, body) = server.ask("HEAD", &server.path, &host);
    assert_eq!((status, body.as_str()), (200, ""));

    // The next page is the page of the changed input.
    folder.write("in/a.yaml", GOOD.as_bytes());
    let changed = server.get("mark");
    assert_ne!(changed, mark);
    let page = server.get("");
    assert!(!page.contains("instance-profile-is-arn") && page.contains(&format!(r#""mark":"{changed}""#)));

    // Without input, the page says so, and it comes back with the input.
    std::fs::remove_file(folder.path("in/a.yaml")).unwrap();
    assert!(server.get("").contains("nothing to report"));
    folder.write("in/b.yaml", BAD.as_bytes());
    assert!(server.get("").contains("instance-profile-is-arn"));
}

#[test]
fn the_base_of_an_overlay_belongs_to_the_page() {
    let overlay = "kind: Kustomization\nresources: [../../base]\n";
    let base = "kind: Kustomization\nresources: [class.yaml]\n";
    let folder = Folder::with(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("overlays/prod/kustomization.yaml", overlay),
        ("base/kustomization.yaml", base),
        ("base/class.yaml", GOOD),
    ]);
    let server = Server::start(&folder, &["overlays/prod"]);
    let mark = server.get("mark");
    assert!(server.get("").contains(&format!(r#""mark":"{mark}""#)));
    folder.write("base/class.yaml", BAD.as_bytes());
    let changed = server.get("mark");
    assert_ne!(changed, mark);
    assert!(server.get("").contains(&format!(r#""mark":"{changed}""#)));
}

#[test]
fn does_not_start_without_an_input() {
    let folder = Folder::with(&[("in/.hidden", "")]);
    assert_eq!(folder.run(&["open", "in"]).status, 3);
    assert_eq!(folder.run(&["open", "-"]).status, 2);
    assert_eq!(folder.run(&["open", "--port", "70000"]).status, 2);
}
