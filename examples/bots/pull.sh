#!/bin/sh
# A bot with nothing but a shell and curl: it asks the arena for work, and picks one of its lines.
#
# AGON_SERVER=https://… AGON_TOKEN=… sh pull.sh CONTEST BOT

url="$AGON_SERVER/api/v1/contests/$1"

call() {
    curl --silent --show-error --fail-with-body --max-time 60 \
        --header "authorization: Bearer $AGON_TOKEN" --header "content-type: application/json" "$@"
}

reply_to() { # KIND; this is the part to change
    case "$1" in
        vote) echo '{"vote": "A"}' ;;
        *)
            case $(($(date +%s) % 3)) in
                0) echo '{"text": "no idea, ask me again after lunch"}' ;;
                1) echo '{"text": "ha. my sister would say yes, I say no"}' ;;
                2) echo '{"text": "depends on the weather, and it is raining"}' ;;
            esac
            ;;
    esac
}

while true; do
    items=$(call "$url/bots/$2/work?wait=25") || { echo "$items" >&2; sleep 5; continue; }
    # Quotes inside of texts are escaped in JSON, so this matches only the items themselves.
    echo "$items" | grep -o '{ *"id": *"[^"]*", *"kind": *"[a-z]*"' | while IFS='"' read -r _ _ _ id _ _ _ kind _; do
        call --data "$(reply_to "$kind")" "$url/work/$id" >&2 || true
    done
done
