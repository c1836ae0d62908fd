# shellcheck shell=bash
# Sourced by the other scripts: installs Debian or Ubuntu packages, but only those that are missing.

need_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "No apt here: please make sure that these (or their equivalents) are installed: $*"
    return 0
  fi
  local missing=() package as_root=()
  for package in "$@"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      missing+=("$package")
    fi
  done
  [ ${#missing[@]} -eq 0 ] && return 0

  echo "Installing ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Not root and no sudo: please install ${missing[*]} yourself." >&2
      return 1
    fi
    as_root=(sudo)
  fi
  # A package source that cannot be reached matters only if it has what is missing: the installation tells.
  "${as_root[@]}" apt-get update -q </dev/null || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}" </dev/null
}
