# The command line, built from source. Version and address come from Cargo.toml.
{ lib, rustPlatform, installShellFiles }:

let
  manifest = (builtins.fromTOML (builtins.readFile ../../Cargo.toml)).workspace.package;
in
rustPlatform.buildRustPackage {
  pname = "karpwarden";
  inherit (manifest) version;

  src = ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  cargoBuildFlags = [ "--package" "karpwarden-cli" ];
  # The tests of the repository need a registry, a browser and WebAssembly.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    $out/bin/karpwarden man > karpwarden.1
    installManPage karpwarden.1
    for shell in bash fish zsh; do
      $out/bin/karpwarden completions $shell > karpwarden.$shell
    done
    installShellCompletion --cmd karpwarden --bash karpwarden.bash --fish karpwarden.fish --zsh karpwarden.zsh
  '';
  doInstallCheck = true;
  installCheckPhase = "$out/bin/karpwarden check --fail-on never ${../../examples}";

  meta = {
    description = "Checks Karpenter (AWS) manifests before a cluster does";
    homepage = manifest.repository;
    license = lib.licenses.asl20;
    mainProgram = "karpwarden";
  };
}
