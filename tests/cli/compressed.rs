//! Compressed logs and manifests, and archives of them.

use std::io::Write as _;

use crate::diagnose::{CLASS, lines, problem};
use crate::folder::Folder;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn reads_compressed_logs() {
    let text = problem();
    let frames = [zstandard(text.get(..500).unwrap()), zstandard(text.get(500..).unwrap())].concat();
    let members = [gzip(text.get(..500).unwrap()), gzip(text.get(500..).unwrap())].concat();
    for (name, content, file) in [
        ("k.log.gz", gzip(&text), "k.log.gz"),
        ("rotated", members, "rotated"),
        ("k.log.zst", zstandard(&text), "k.log.zst"),
        ("frames.zst", frames, "frames.zst"),
        (
            "logs.zip",
            archive(&[("a/", b""), ("a/k.log", text.as_bytes()), ("b.log", b"")]),
            "logs.zip/a/k.log",
        ),
        ("export.zip", archive(&[("k.gz", &gzip(&text))]), "export.zip/k.gz"),
    ] {
        let folder = Folder::with(&[]);
        folder.write(name, &content);
        let run = folder.run(&["diagnose", name, "--format", "json"]);
        let report = run.json();
        let first = &report["findings"][0];
        assert_eq!(run.status, 1, "{name}");
        assert_eq!(
            (&first["rule"], &first["file"], &first["line"]),
            (&"controller-panicked".into(), &file.into(), &3.into()),
            "{name}"
        );
    }
}

#[test]
fn files_in_an_archive_count_as_files_in_a_folder() {
    let folder = Folder::with(&[]);
    folder.write(
        "k.zip",
        &archive(&[("k.log", lines(1).as_bytes()), ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x01")]),
    );
    let run = folder.run(&["diagnose", "k.zip", "--format", "json"]);
    let report = run.json();
    assert_eq!((run.status, &report["skipped"][0]["file"]), (0, &"k.zip/a.png".into()));
    let run = folder.run_in("", &["diagnose", "-"], "PK\u{3}\u{4}");
    assert_eq!(run.status, 4);
    assert!(
        run.stdout.contains("a zip archive on standard input is not read; write it to a file"),
        "{run:?}"
    );
    assert!(!run.stderr.contains("standard input is empty"), "{run:?}");
}

#[test]
fn manifests_may_be_compressed() {
    let folder = Folder::with(&[]);
    folder.write("class.yaml.gz", &gzip(CLASS));
    let report = folder.run(&["diagnose", "class.yaml.gz", "--format", "json"]).json();
    assert_eq!(report["findings"][0]["rule"], "status-contradiction");
    assert_eq!(report["findings"][0]["file"], "class.yaml.gz");
}

#[test]
fn bounds_what_a_file_decompresses_to() {
    let text = problem();
    let bound = text.len();
    for (name, content) in [
        ("k.gz", gzip(&text)),
        ("k.zst", zstandard(&text)),
        ("k.zip", archive(&[("k.log", text.as_bytes())])),
        (
            "two.zip",
            archive(&[
                ("1", text.get(..500).unwrap().as_bytes()),
                ("2", text.get(500..).unwrap().as_bytes()),
            ]),
        ),
    ] {
        let folder = Folder::with(&[]);
        folder.write(name, &content);
        let run = |bound: usize| {
            folder.run(&[
                "diagnose",
                name,
                "--format",
                "json",
                "--max-decompressed-bytes",
                &bound.to_string(),
            ])
        };
        assert_eq!(run(bound).status, 1, "{name}");
        let beyond = run(bound - 1);
        assert_eq!(beyond.status, 4, "{name}");
        let message = beyond.json()["unreadable"][0]["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with("raise the bound with --max-decompressed-bytes"), "{message}");
    }
}

#[test]
fn broken_archives_are_unreadable() {
    let folder = Folder::with(&[("x.log", &lines(1))]);
    let zipped = archive(&[("k.log", problem().as_bytes())]);
    folder.write("cut.gz", gzip(&problem()).get(..40).unwrap());
    folder.write("cut.zst", zstandard(&problem()).get(..20).unwrap());
    folder.write("cut.zip", zipped.get(..60).unwrap());
    for name in ["cut.gz", "cut.zst", "cut.zip"] {
        let run = folder.run(&["diagnose", "x.log", name, "--format", "json"]);
        let report = run.json();
        assert_eq!(run.status, 4, "{name}");
        assert_eq!(report["unreadable"][0]["file"], name);
        assert_eq!(report["logs"][0]["files"], 2);
        assert_eq!(report["logs"][0]["understood"], 1);
    }
}

#[test]
fn reads_the_rest_of_an_archive_after_an_unreadable_file() {
    let (first, third) = (lines(1), problem());
    let whole = archive(&[
        ("a1.log", first.as_bytes()),
        ("a2.log.zst", b"\x28\xb5\x2f\xfd\xff"),
        ("a3.log", third.as_bytes()),
    ]);
    // Bit 0 of the general purpose flag marks an encrypted file (APPNOTE.TXT of PKWARE, section 4.4.4).
    let mut encrypted =
        archive(&[("a1.log", first.as_bytes()), ("a2.log.zst", b"x"), ("a3.log", third.as_bytes())]);
    for (head, flag) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let starts = encrypted.windows(4).enumerate().filter(|(_, window)| window == head);
        let second = starts.map(|(at, _)| at).nth(1).unwrap();
        encrypted[second + flag] |= 1;
    }
    for content in [whole, encrypted] {
        let folder = Folder::with(&[]);
        folder.write("k.zip", &content);
        let report = folder.run(&["diagnose", "k.zip", "--format", "json"]).json();
        assert_eq!(report["unreadable"][0]["file"], "k.zip/a2.log.zst");
        assert_eq!(report["unreadable"].as_array().unwrap().len(), 1);
        assert_eq!(report["logs"][0]["files"], 3);
        assert_eq!(report["findings"][0]["file"], "k.zip/a3.log");
    }
}
