# Homebrew formula. `packaging/fill.sh` writes the checksums of a release in place of the zeros.
class Karpwarden < Formula
  desc "Checks Karpenter (AWS) manifests before a cluster does"
  homepage "https://github.com/karpwarden/karpwarden"
  version "1.0.0"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/karpwarden/karpwarden/releases/download/v1.0.0/karpwarden-aarch64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/karpwarden/karpwarden/releases/download/v1.0.0/karpwarden-x86_64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/karpwarden/karpwarden/releases/download/v1.0.0/karpwarden-aarch64-unknown-linux-musl.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/karpwarden/karpwarden/releases/download/v1.0.0/karpwarden-x86_64-unknown-linux-musl.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  # `brew install --HEAD` builds from source.
  head do
    url "https://github.com/karpwarden/karpwarden.git", branch: "main"
    depends_on "rust" => :build
  end

  def install
    if build.head?
      system "cargo", "install", *std_cargo_args(path: "cli")
      (buildpath/"karpwarden.1").write Utils.safe_popen_read(bin/"karpwarden", "man")
    else
      bin.install "karpwarden"
    end
    man1.install "karpwarden.1"
    generate_completions_from_executable(bin/"karpwarden", "completions")
  end

  test do
    (testpath/"nodeclass.yaml").write <<~YAML
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata:
        name: default
      spec:
        instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes
    YAML
    assert_match "instance-profile-is-arn", shell_output("#{bin}/karpwarden check nodeclass.yaml", 1)
  end
end
