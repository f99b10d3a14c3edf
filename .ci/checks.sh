# Sourced by .ci/run and .ci/full: what counts checks, installs what they need, and names the two databases and Nodes.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/counts"
: >"$work/failed"

count() { # passed, failed; kept in a file, since checks also run in subshells
  echo "$1 $2" >>"$work/counts"
}

check() { # name, command…
  local name=$1 started=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    count 1 0
    printf -- '-- %s: ok (%ss)\n' "$name" "$((SECONDS - started))"
  else
    count 0 1
    echo "$name" >>"$work/failed"
    printf -- '-- %s: FAILED (%ss)\n' "$name" "$((SECONDS - started))"
  fi
}

check_beside() { # name, command…; like check, but prints all output at the end
  local said
  said=$(mktemp "$work/said-XXXXXX")
  check "$@" >"$said" 2>&1
  flock "$work/counts" cat "$said"
}

side_by_side() { # functions that run checks, in parallel
  local lane lanes=()
  for lane; do
    "$lane" &
    lanes+=($!)
  done
  for lane in "${lanes[@]}"; do wait "$lane" || count 0 1; done
}

finish() {
  local passed failed
  read -r passed failed < <(awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }' "$work/counts")
  # what failed is thousands of lines above
  [ ! -s "$work/failed" ] || { printf '\nFailed:\n' && sed 's/^/  /' "$work/failed"; }
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
  exit
}

count_tests() { # name, command… that takes Jest arguments; adds its tests to the totals
  local name=$1 ok bad report
  shift
  report=$(mktemp "$work/tests-XXXXXX.json")
  printf '\n== %s\n' "$name"
  "$@" --json --outputFile="$report" --ci
  if counts=$(node .ci/jest-report.mjs "$report" "$work/failed"); then
    read -r ok bad <<<"$counts"
    count "$ok" "$bad"
  else
    count 0 1
    echo "$name: no report" >>"$work/failed"
  fi
}

export CI=1

# programs that some tests need
# the shell of Chromium has the same engine for half the processor time; not every distribution has it
install_chromium() {
  command -v chromium-headless-shell >/dev/null && return
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null && return
  command -v chromium >/dev/null && return
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
}

install_redis() {
  command -v redis-server >/dev/null && return
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server >/dev/null
}

# tools of later checks, in advance; failures are repeated and reported there
fetch_tools() { # scripts of .ci
  local tool
  for tool; do bash .ci/$tool --install; done >/dev/null 2>&1
  return 0
}

# downloads mostly wait for the network
packages() { check_beside 'install' npm ci --no-audit --no-fund; }
programs() {
  check_beside 'install Redis for the shared-limit tests' install_redis
  check_beside 'install Chromium for the page tests' install_chromium
  fetch_tools "${TOOLS[@]}"
}
install_all() { # scripts of .ci whose tools are needed
  TOOLS=("$@")
  side_by_side packages programs
  grep -q '^0 1' "$work/counts" && finish
  # the installation has built it
  export SCOPEGATE_BUILT=1
  server=$(fast_server)
  echo "the fast database: ${server:-missing, or does not run; the default one instead}"
}

fast_server() {
  local named=$PWD/../shared/bin/secantusd-rs
  "$named" --version >/dev/null 2>&1 && echo "$named"
}
on_fast_server() { if [ -n "${server:-}" ]; then MONGOD_BINARY=$server "$@"; else "$@"; fi; }
on_image_node() { bash .ci/node image "$@"; }
on_oldest_node() { bash .ci/node oldest "$@"; }
