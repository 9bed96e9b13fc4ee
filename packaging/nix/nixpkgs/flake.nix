# Stand-in for nixpkgs, with which `packaging/test.sh` evaluates the flake without a network. It has what the flake uses and no more, so that a name
# or an argument that nixpkgs lacks is an error.
{
  outputs = { self }: {
    lib.genAttrs = names: value: builtins.listToAttrs (map (name: { inherit name; value = value name; }) names);

    legacyPackages = self.lib.genAttrs [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ] (system: {
      callPackage = path: overrides:
        import path ({
          lib.licenses.asl20.spdxId = "Apache-2.0";
          installShellFiles = "installShellFiles";
          rustPlatform.buildRustPackage =
            { pname
            , version
            , src
            , cargoLock
            , cargoBuildFlags
            , doCheck
            , nativeBuildInputs
            , postInstall
            , doInstallCheck
            , installCheckPhase
            , meta
            }@package:
            # importCargoLock reads the lock file; a dependency from a repository would need a hash there.
            assert builtins.all (crate: builtins.match "git\\+.*" (crate.source or "") == null)
              (builtins.fromTOML (builtins.readFile cargoLock.lockFile)).package;
            derivation {
              name = "${pname}-${version}";
              builder = "/bin/sh";
              inherit system src postInstall installCheckPhase;
            } // package;
        } // overrides);
    });
  };
}
