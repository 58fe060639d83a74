"""The compose file and the Kubernetes manifests: valid by their schemas, and safe to run."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, get_args

import jsonschema_rs
import pytest
import yaml  # type: ignore[import-untyped]  # it ships no types

from agon.entities.jobs import JobKind
from agon.settings import SETTINGS, load

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
SCHEMAS: Final = Path(__file__).with_name("kubernetes-schemas.json")
COMPOSE_SCHEMA: Final = files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
VARIABLES: Final = {setting.variable for setting in SETTINGS.values()}
KINDS: Final = {
    "worker": "publish,rebuild,dry-run,find,robustness,round,deliver",
    "judge": "judge,gate",
}


def manifests() -> Iterator[dict[str, Any]]:
    """Yield every Kubernetes resource that the kustomization lists."""
    folder = DEPLOY / "kubernetes"
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    assert sorted([*listed, "kustomization.yaml"]) == sorted(p.name for p in folder.iterdir())
    for name in listed:
        yield from yaml.safe_load_all((folder / name).read_text())


def pods() -> dict[str, dict[str, Any]]:
    """Return the pods' templates by the names of their resources."""
    return {
        str(resource["metadata"]["name"]): resource["spec"]["template"]
        for resource in manifests()
        if "template" in resource.get("spec", {})
    }


def compose() -> dict[str, Any]:
    """Return the compose file with its aliases resolved."""
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


@cache
def validator(kind: str, version: str) -> jsonschema_rs.Validator:
    """Return the validator of a kind of resources; `tools/kubernetes-schemas` writes the file."""
    name = f"{kind} {version.replace('/', ' ')}"
    schema = json.loads(SCHEMAS.read_text())
    assert name in schema["$defs"], f"run tools/kubernetes-schemas: there is no schema of {name}"
    return jsonschema_rs.validator_for({**schema, "$ref": f"#/$defs/{name.replace(' ', '%20')}"})


def kubernetes_errors(resource: dict[str, Any]) -> list[str]:
    """Return what the schema of the resource's kind finds, each with its place."""
    found = validator(resource["kind"], resource["apiVersion"]).iter_errors(resource)
    return [f"{error.instance_path}: {error.message}" for error in found]


def compose_errors(document: dict[str, Any]) -> list[str]:
    """Return what the schema of the compose specification finds, each with its place."""
    validator = jsonschema_rs.validator_for(json.loads(COMPOSE_SCHEMA.read_text()))
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(document)]


def test_the_manifests_follow_the_schemas_of_kubernetes() -> None:
    """The strict schemas of release 1.33, which know no field beyond those of the API."""
    kinds = [resource["kind"] for resource in manifests()]
    assert {"StatefulSet", "Deployment", "Service", "ConfigMap", "NetworkPolicy"} <= set(kinds)
    assert {
        f"{resource['kind']} {resource['metadata']['name']}": errors
        for resource in manifests()
        if (errors := kubernetes_errors(resource))
    } == {}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda spec: spec["containers"][0].update(readinesProbe={}), "readinesProbe"),
        (lambda spec: spec["containers"][0].update(image=5), "image"),
        (lambda spec: spec.pop("containers"), "containers"),
        (lambda spec: spec["securityContext"].update(runAsNonRoot="yes"), "runAsNonRoot"),
    ],
)
def test_a_wrong_manifest_is_noticed(change: Callable[[Any], Any], place: str) -> None:
    """A misspelt or missing field, and a value of another type, deep inside a resource."""
    server = next(r for r in manifests() if r["kind"] == "Deployment")
    change(server["spec"]["template"]["spec"])
    (error,) = kubernetes_errors(server)
    assert place in error


def test_the_compose_file_follows_the_compose_specification() -> None:
    """As bundled with check-jsonschema."""
    assert compose_errors(compose()) == []
    wrong = compose()
    wrong["services"]["server"]["read-only"] = True
    assert any("read-only" in error for error in compose_errors(wrong))
    wrong = compose()
    wrong["services"]["judge"]["cap_drop"] = "ALL"
    assert any("cap_drop" in error for error in compose_errors(wrong))


def test_names_in_the_manifests_refer_to_each_other() -> None:
    """No schema knows that a Service selects no pod, or a container mounts no volume."""
    templates = pods()
    labels = [template["metadata"]["labels"] for template in templates.values()]
    named = {(r["kind"], r["metadata"]["name"]) for r in manifests()}
    for resource in manifests():
        spec = resource.get("spec", {})
        if resource["kind"] == "Service":
            selected = [own for own in labels if spec["selector"].items() <= own.items()]
            assert len(selected) == 1, resource
        if "template" in spec:
            assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
            claims = [claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", ())]
            pod = spec["template"]["spec"]
            volumes = {*claims, *(volume["name"] for volume in pod["volumes"])}
            for container in (*pod.get("initContainers", ()), *pod["containers"]):
                assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
                ports = {port["name"] for port in container.get("ports", ())}
                probes = [v for k, v in container.items() if k.endswith("Probe") and "httpGet" in v]
                assert {probe["httpGet"]["port"] for probe in probes} <= ports
                for source in container.get("envFrom", ()):
                    assert ("ConfigMap", source["configMapRef"]["name"]) in named


def test_pods_run_without_rights_and_within_limits() -> None:
    """Judges only have another seccomp profile: a sandbox needs a user namespace."""
    for name, template in pods().items():
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        expected = "Unconfined" if name == "judge" else "RuntimeDefault"
        assert pod["securityContext"]["seccompProfile"] == {"type": expected}
        assert pod["automountServiceAccountToken"] is False
        # Kubernetes would set AGON_PORT=tcp://… for a Service named agon.
        assert pod["enableServiceLinks"] is False
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"].keys() >= {"cpu", "memory"}
    for name, service in compose()["services"].items():
        assert service["deploy"]["resources"]["limits"].keys() >= {"cpus", "memory", "pids"}, name
        if name != "postgres":
            assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
            assert "no-new-privileges=true" in service["security_opt"]


def test_the_server_is_probed_by_the_operations_of_health() -> None:
    """Alive as long as it answers; ready when its database does."""
    (server,) = pods()["server"]["spec"]["containers"]
    paths = {key: value["httpGet"]["path"] for key, value in server.items() if "Probe" in key}
    assert paths == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    declared = json.loads((DEPLOY.parent / "docs/reference/openapi.json").read_text())["paths"]
    assert set(paths.values()) <= declared.keys()


def test_no_secret_is_written_in_a_file() -> None:
    """Passwords and keys are references; kubectl and the environment provide them."""
    assert "Secret" not in {resource["kind"] for resource in manifests()}
    for template in pods().values():
        for container in template["spec"]["containers"]:
            values = {entry["name"]: entry for entry in container["env"]}
            for name in values.keys() & {"PGPASSWORD", "POSTGRES_PASSWORD"}:
                assert "secretKeyRef" in values[name]["valueFrom"]
    for service in compose()["services"].values():
        for name, value in service["environment"].items():
            if "PASSWORD" in name:
                assert value.startswith("${AGON_DATABASE_PASSWORD:?")


def test_settings_and_commands_exist() -> None:
    """Unknown settings are errors at the start, and so are unknown kinds of jobs."""
    (settings,) = (r["data"] for r in manifests() if r["kind"] == "ConfigMap")
    assert settings.keys() <= VARIABLES
    assert load(environ=settings).workers == 0
    services = compose()["services"]
    for name, kinds in KINDS.items():
        (container,) = pods()[name]["spec"]["containers"]
        assert services[name]["command"] == container["args"]
        assert container["args"][:3] == ["worker", "--kinds", kinds]
        own = services[name]["environment"].keys()
        assert {variable for variable in own if variable.startswith("AGON_")} <= VARIABLES
    # Each kind has its worker; agents need a container engine, which a container has not.
    assert {*",".join(KINDS.values()).split(",")} == {*get_args(JobKind)} - {"trial"}


def test_every_image_is_named_by_its_digest() -> None:
    """A tag is moved: the same file would start other programs next week. None is invented here."""
    bases = re.findall(r"^FROM (\S+)", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert len(bases) == 2
    assert all(base.endswith("@${BASE_DIGEST}") for base in bases)
    assert "ARG BASE_DIGEST\n" in (DEPLOY / "Containerfile").read_text()  # without a default
    services = compose()["services"]
    built = {service["image"] for service in services.values() if "build" in service}
    assert services["server"]["build"]["args"]["BASE_DIGEST"].startswith("${AGON_BASE_DIGEST:?")
    for service in services.values():
        assert service["image"] in built or "@${AGON_POSTGRES_DIGEST:?" in service["image"]
    kustomization = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
    digests = {image["name"]: image["digest"] for image in kustomization["images"]}
    assert not any("newTag" in image for image in kustomization["images"])
    for template in pods().values():
        pod = template["spec"]
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            assert container["image"].partition(":")[0] in digests
    assert all(
        digest.startswith("sha256:") and not re.fullmatch("sha256:[0-9a-f]{64}", digest)
        for digest in digests.values()
    )
