# Sourced; a separate demo for a check. start_demo FOLDER builds (unless SCOPEGATE_BUILT is set), starts the demo and sets
# SCOPEGATE_URL and SCOPEGATE_KEY; its log is FOLDER/err. stop_demo stops it with everything it started.

gateway=

start_demo() {
  local work=$1
  [ -n "${SCOPEGATE_BUILT:-}" ] || npm run --silent build
  DATA_DIR="$work/data" PORT=0 RATE_LIMIT_PER_MINUTE=1000000 LOG_LEVEL=warn \
    setsid node dist/main.js demo --json >"$work/out" 2>"$work/err" </dev/null &
  gateway=$!
  for _ in $(seq 3000); do
    [ -s "$work/out" ] && break
    kill -0 "$gateway" 2>/dev/null || break
    sleep 0.1
  done
  if ! [ -s "$work/out" ]; then
    echo 'the gateway did not start:'
    cat "$work/err"
    exit 1
  fi
  SCOPEGATE_URL=$(member_of "$work/out" url)
  SCOPEGATE_KEY=$(member_of "$work/out" key)
  export SCOPEGATE_URL SCOPEGATE_KEY
}

member_of() { node -p "JSON.parse(require('fs').readFileSync('$1', 'utf8'))['$2']"; }

stop_demo() {
  [ -n "$gateway" ] || return 0
  kill -TERM "$gateway" 2>/dev/null || true
  for _ in $(seq 300); do
    kill -0 "$gateway" 2>/dev/null || break
    sleep 0.1
  done
  # the gateway and its database are one process group
  kill -KILL -- "-$gateway" 2>/dev/null || true
}
