# `nix run github:karpwarden/karpwarden -- check .`, or `nix run . -- check .` in a checkout.
{
  description = "Checks Karpenter (AWS) manifests before a cluster does";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forAllSystems = nixpkgs.lib.genAttrs systems;
      package = system: nixpkgs.legacyPackages.${system}.callPackage ./packaging/nix/package.nix { };
    in
    {
      packages = forAllSystems (system: { default = package system; });
      apps = forAllSystems (system: {
        default = { type = "app"; program = "${self.packages.${system}.default}/bin/karpwarden"; };
      });
      checks = forAllSystems (system: { build = self.packages.${system}.default; });
    };
}
