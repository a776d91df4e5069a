# Sourced by ./run and ./test: finds or installs what the build needs, configures and builds. Everything it says goes to
# stderr, so that the program's own output stays clean.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log=$root/build/setup.log
venv=$root/.venv
: "${CMAKE_PREFIX_PATH:=}" "${Torch_DIR:=}"
torch_pin=2.13.0
torch_oldest=2.6
transformers_pin=5.24.0
sentencepiece_pin=0.2.0  # decides ties as Debian 12's 0.1.97 and Debian 13's 0.2.0 do, newer ones otherwise

say() { printf '== %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# Runs a command whose output only matters when it fails; says every half minute that it is still at work.
quietly() {
  local what=$1 started=$SECONDS beat status=0
  shift
  mkdir -p "$(dirname "$log")"
  say "$what ..."
  (while sleep 30 </dev/null >/dev/null 2>&1; do say "  still at it after $((SECONDS - started)) s"; done) &
  beat=$!
  printf '\n$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  kill "$beat" 2>/dev/null || true
  wait "$beat" 2>/dev/null || true
  if ((status)); then
    tail -n 30 "$log" >&2
    die "failed: $what; the whole log is $log"
  fi
}

at_least() { [[ $(printf '%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }
is_debian() { command -v apt-get >/dev/null && command -v dpkg >/dev/null; }
can_install() { is_debian && [[ $(id -u) == 0 ]]; }

# --- Tools and libraries ---------------------------------------------------------------------------------------------

compiler() { echo "${CXX:-c++}"; }

missing_tools() {
  command -v "$(compiler)" >/dev/null || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  command -v ccache >/dev/null || echo ccache
  command -v python3 >/dev/null || echo python3
}

# Files of Debian's packages that are compiled into the program.
missing_javascript() {
  local folder=/usr/share/javascript
  [[ -e $folder/dygraphs/dygraph.min.js ]] || echo libjs-dygraphs
  [[ -e $folder/chart.js/chart.min.js ]] || echo libjs-chart.js
}

# What only the test of the report's page needs.
missing_browser() {
  command -v chromium >/dev/null || echo chromium
  command -v chromedriver >/dev/null || echo chromium-driver
  PATH=/usr/bin:$PATH python3 -c 'import selenium' 2>/dev/null || echo python3-selenium
}

# What must be true for the preprocessor, and the Debian package that makes it so.
libraries=(
  '__has_include(<yaml-cpp/yaml.h>)' libyaml-cpp-dev
  '__has_include(<spdlog/spdlog.h>)' libspdlog-dev
  '__has_include(<CLI/CLI.hpp>)' libcli11-dev
  '__has_include(<nlohmann/json.hpp>)' nlohmann-json3-dev
  '__has_include(<pcre2.h>)' libpcre2-dev
  '__has_include(<utf8proc.h>)' libutf8proc-dev
  '__has_include(<sentencepiece_processor.h>)' libsentencepiece-dev
  '__has_include(<hwy/highway.h>)' libhwy-dev
  '__has_include(<boost/math/distributions/non_central_t.hpp>)' libboost-dev
  '__has_include(<catch2/catch.hpp>) || __has_include(<catch2/catch_test_macros.hpp>)' catch2
  '!defined(__clang__) || __has_include(<omp.h>)' libomp-dev
)

# One run of the preprocessor prints the packages whose headers it does not find.
missing_libraries() {
  local folders=() prefix
  if ! command -v "$(compiler)" >/dev/null; then
    printf '%s %s\n' "${libraries[@]}" | awk '$NF != "libomp-dev" {print $NF}'
    return
  fi
  for prefix in ${CMAKE_PREFIX_PATH//[:;]/ }; do folders+=(-I "$prefix/include"); done
  printf '#if !(%s)\nmissing %s\n#endif\n' "${libraries[@]}" |
    "$(compiler)" -std=c++20 -x c++ -E -P "${folders[@]}" - | sed -n 's/^missing //p' | tr -d ' '
}

apt_updated=
install() {
  if ! can_install; then
    say "missing, and not installed because that needs root on Debian (these are Debian's names):"
    printf '     %s\n' "$@" >&2
    if is_debian; then say "as root: apt-get update; apt-get install --no-install-recommends $*"; fi
    exit 1
  fi
  apt_update
  quietly "installing $*" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

apt_update() {
  [[ $apt_updated ]] || quietly "asking Debian for its list of packages" apt-get update
  apt_updated=yes
}

# --- LibTorch --------------------------------------------------------------------------------------------------------

# The folder of TorchConfig.cmake below a prefix.
torch_below() {
  local file
  for file in "$1"/{,Torch/,share/cmake/Torch/,lib/cmake/Torch/,lib/*/cmake/Torch/}TorchConfig.cmake; do
    if [[ -f $file ]]; then
      dirname "$file"
      return
    fi
  done
}

torch_version() { sed -n 's/^set(PACKAGE_VERSION "\([0-9.]*\).*/\1/p' "$1/TorchConfigVersion.cmake" | head -n 1; }

torch_of_user() {
  local prefix
  if [[ ${Torch_DIR:-} ]]; then
    [[ -f $Torch_DIR/TorchConfig.cmake ]] || die "Torch_DIR is $Torch_DIR, but there is no TorchConfig.cmake in it"
    echo "$Torch_DIR"
    return
  fi
  for prefix in ${CMAKE_PREFIX_PATH//[:;]/ }; do torch_below "$prefix"; done | head -n 1
}

# Looks where `import torch` would, without the second that the import itself takes.
torch_of_python() {
  local package
  package=$("$1" -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' \
    2>/dev/null) || return 0
  if [[ $package ]]; then torch_below "$package"; fi
}

torch_of_debian() { torch_below /usr; }

debian_offers_torch() {
  local version
  version=$(apt-cache policy libtorch-dev 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9.]*\).*/\1/p')
  if [[ $version ]]; then
    at_least "$version" $torch_oldest
  else  # no list of packages yet, and no root to fetch it: Debian 13 is known to have 2.6
    grep -qx 'ID=debian' /etc/os-release 2>/dev/null && at_least "$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release)" 13
  fi
}

# pip writes RECORD last: without it the folder is what an interrupted installation left.
torch_of_venv() {
  if compgen -G "$venv/lib/python3*/site-packages/torch-$torch_pin*.dist-info/RECORD" >/dev/null; then
    torch_of_python "$venv/bin/python3"
  fi
}

usable() {  # folder, what it is: says in one sentence why not
  local version
  [[ $1 ]] || return 1
  version=$(torch_version "$1")
  at_least "${version:-0}" $torch_oldest && return
  say "$2 in $1 is version ${version:-unknown}; blockzoo needs LibTorch $torch_oldest or newer."
  return 1
}

# Sets torch_dir, or leaves it empty. The order: what the user names, what python3 has, Debian's, our own.
find_torch() {
  torch_dir=$(torch_of_user)
  if [[ $torch_dir ]]; then
    usable "$torch_dir" "the LibTorch that Torch_DIR or CMAKE_PREFIX_PATH names," || exit 1
    return
  fi
  torch_dir=$(torch_of_python python3)
  usable "$torch_dir" "the torch of python3, left aside," && return
  torch_dir=$(torch_of_debian)
  usable "$torch_dir" "Debian's libtorch-dev, left aside," && return
  torch_dir=$(torch_of_venv)
}

fill_venv() {
  [[ -x $venv/bin/pip ]] || quietly "making a Python environment in .venv" python3 -m venv "$venv"
  quietly "installing LibTorch: the Python package torch $torch_pin, into .venv (a few minutes)" \
    "$venv/bin/pip" install "torch==$torch_pin"
}

# Only where .venv has our torch: anywhere else pip would bring a second one. The test says that it is skipped there.
add_transformers() {
  [[ $(torch_of_venv) ]] || return 0
  local packages=$venv/lib/python3*/site-packages
  compgen -G "$packages/transformers-$transformers_pin.dist-info/RECORD" >/dev/null &&
    compgen -G "$packages/sentencepiece-$sentencepiece_pin.dist-info/RECORD" >/dev/null && return
  quietly "installing transformers $transformers_pin and sentencepiece $sentencepiece_pin into .venv" \
    "$venv/bin/pip" install "torch==$torch_pin" "transformers==$transformers_pin" "sentencepiece==$sentencepiece_pin"
}

warn_of_slow_blas() {
  [[ $torch_dir == /usr/* ]] || return 0
  if readlink -f /usr/lib/*/libblas.so.3 | grep -q openblas-pthread; then
    say "note: Debian's LibTorch runs on openblas-pthread here; it is 2.5 times faster with libopenblas0-openmp:"
    say "      apt-get install libopenblas0-openmp; update-alternatives --config libblas.so.3-$(uname -m)-linux-gnu"
  fi
}

# --- Build -----------------------------------------------------------------------------------------------------------

# Arguments: functions that print packages which are missing beside those of every build.
install_missing() {
  local missing from_pip= also
  mapfile -t missing < <(for also in missing_tools missing_libraries missing_javascript "$@"; do "$also"; done)
  find_torch
  if [[ ! $torch_dir ]]; then
    if can_install; then apt_update; fi
    if debian_offers_torch; then
      say "LibTorch: Debian's libtorch-dev, with the OpenBLAS that uses OpenMP (the other one is 2.5 times slower)"
      missing+=(libtorch-dev libopenblas0-openmp)
    else
      from_pip=yes
      python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    fi
  fi
  if ((${#missing[@]})); then install "${missing[@]}"; fi
  if [[ $from_pip ]]; then fill_venv; fi
  [[ $torch_dir ]] || find_torch
  [[ $torch_dir ]] || die "LibTorch was installed, but its TorchConfig.cmake is not found; the log is $log"
  warn_of_slow_blas
}

# A compiler on LibTorch's headers takes more than one GiB.
jobs_for_memory() {
  local cores mib jobs
  cores=$(nproc)
  mib=$(awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo)
  jobs=$((mib / 1500))
  ((jobs > cores)) && jobs=$cores
  echo $((jobs > 0 ? jobs : 1))
}

configure() {
  local preset=$1 cache=$root/build/$1/CMakeCache.txt fresh=()
  if [[ -f $cache ]]; then
    grep -qx "Torch_DIR:[A-Z]*=$torch_dir" "$cache" && grep -q "^CMAKE_CXX_COMPILER:.*=.*$(basename "$(compiler)")$" "$cache" &&
      [[ -f $root/build/$preset/build.ninja ]] && return
    fresh=(--fresh)  # another LibTorch or compiler: nothing that was found with the old one holds
  fi
  cd_root quietly "configuring build/$preset with LibTorch $(torch_version "$torch_dir") from $torch_dir" \
    cmake --preset "$preset" "${fresh[@]}" "-DTorch_DIR=$torch_dir"
}

build() {
  local preset=$1
  shift
  configure "$preset"
  say "building in build/$preset"
  cd_root env NINJA_STATUS="[%f/%t, %e s] " cmake --build --preset "$preset" -j "$(jobs_for_memory)" --target "$@" >&2
}

cd_root() { (cd "$root" && "$@"); }
