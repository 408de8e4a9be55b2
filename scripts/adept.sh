# Sourced by scripts that run adept. Sets `here`, the folder of the script, `root`, that of the repository, and `adept`, the program, which
# is built unless ADEPT_BIN names one.
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$here/../.." && pwd)
adept=${ADEPT_BIN:-}
if [[ -z $adept ]]; then
    (cd "$root" && cargo build --release)
    adept=$root/target/release/adept
fi
adept=$(realpath "$adept")
