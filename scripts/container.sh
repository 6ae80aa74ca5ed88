#!/usr/bin/env bash
# Builds the container and checks it: its size, that it runs without rights, that it answers, and that it says it is healthy.
set -euo pipefail
cd "$(dirname "$0")/.."
engine=${ENGINE:-$(command -v podman || command -v docker)}
most=$((60 * 1024 * 1024))

"$engine" build --file Containerfile --tag formulanet .
size=$("$engine" image inspect formulanet --format '{{.Size}}')
user=$("$engine" image inspect formulanet --format '{{.Config.User}}')
if [ "$size" -gt "$most" ] || [ "$user" != 65532:65532 ]; then
    echo "the image has $size bytes (at most $most) and runs as $user (expected 65532:65532)" >&2
    exit 1
fi
running=$("$engine" run --detach --read-only --cap-drop=ALL --publish 127.0.0.1:18017:8017 formulanet)
trap '"$engine" rm --force "$running" >/dev/null' EXIT
for _ in $(seq 50); do
    "$engine" exec "$running" /formulanet serve --check 127.0.0.1:8017 2>/dev/null && break
    sleep 0.2
done
"$engine" exec "$running" /formulanet serve --check 127.0.0.1:8017
curl -sS --fail 127.0.0.1:18017/v1/rank -H 'content-type: application/json' \
    -d '{"conjecture": "!m n. m + n = n + m", "premises": "ADD_0: !m. m + 0 = m"}' | grep -q '"name":"ADD_0"'
echo "the container has $size bytes, answers and is healthy"
