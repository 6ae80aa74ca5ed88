#!/usr/bin/env python3
"""Prints what the program is made of as CycloneDX 1.6 (JSON): crates, versions, licences and checksums, from Cargo.lock.

    scripts/sbom.py TARGET > sbom.cdx.json
"""

import json
import subprocess
import sys
import tomllib


def main() -> None:
    target = sys.argv[1]
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    with open("Cargo.lock", "rb") as file:
        locked = tomllib.load(file)["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

    # What is compiled into the program or runs when it is built; not what only tests need.
    root = next(id for id, package in packages.items() if package["name"] == "formulanet-cli")
    edges: dict[str, list[str]] = {}
    waiting = [root]
    while waiting:
        id = waiting.pop()
        if id in edges:
            continue
        needed = [
            dependency["pkg"]
            for dependency in nodes[id]["deps"]
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
        ]
        edges[id] = needed
        waiting += needed

    def url(package: dict) -> str:
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package: dict) -> dict:
        found = {
            "type": "library",
            "bom-ref": url(package),
            "name": package["name"],
            "version": package["version"],
            "purl": url(package),
        }
        if package.get("license"):
            found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if checksum := checksums.get((package["name"], package["version"])):
            found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return found

    parts = sorted((packages[id] for id in edges if id != root), key=url)
    program = component(packages[root]) | {"type": "application"}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": [component(package) for package in parts],
        "dependencies": [
            {"ref": url(packages[id]), "dependsOn": sorted(url(packages[other]) for other in needed)}
            for id, needed in sorted(edges.items())
        ],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
