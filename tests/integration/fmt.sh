#!/usr/bin/env bash
# fmt.sh - `stb fmt` from outside: what it writes, what it leaves alone, what it says.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1

printf 'stb 1\r\nvolume v { note = "n" # why\r\n size=1024MiB }\r\n' >ugly.stb
cat >pretty.stb <<'SPEC'
stb 1

volume v {
  size = 1024MiB
  note = "n"  # why
}
SPEC
printf 'stb 1\nvolume v { size = 010MiB }\n' >wrong.stb
cp wrong.stb wrong.before

expect "fmt prints the canonical form" 0 "$STB" fmt ugly.stb
holds "attributes in order, one a line, LF" cmp -s out pretty.stb
"$STB" fmt - <ugly.stb >piped
holds "- is standard input" cmp -s piped pretty.stb
expect "--check of a file in form" 0 "$STB" fmt --check pretty.stb
holds "says nothing" test ! -s out
expect "--check of one that is not" 1 "$STB" fmt --check pretty.stb ugly.stb
holds "names it" test "$(cat out)" = ugly.stb
expect "a file with errors" 1 "$STB" fmt wrong.stb
says "its diagnostics" 'E0104'
holds "nothing is printed" test ! -s out
expect "a file with errors, -w" 1 "$STB" fmt -w wrong.stb
holds "is left alone" cmp -s wrong.stb wrong.before

chmod 664 ugly.stb
ln -s ugly.stb link.stb
(umask 077 && exec "$STB" fmt -w link.stb)
holds "-w writes it back" cmp -s ugly.stb pretty.stb
holds "mode is kept" test "$(stat -c %a ugly.stb)" = 664
holds "a link stays a link" test -L link.stb
holds "no temporary files stay" test -z "$(find . -name '*.tmp-*')"
before=$(stat -c '%Y %i' pretty.stb)
"$STB" fmt -w pretty.stb
holds "a file in form is not written" test "$before" = "$(stat -c '%Y %i' pretty.stb)"
expect "several files: the good ones are written" 1 "$STB" fmt -w wrong.stb pretty.stb
expect "-w of standard input" 2 "$STB" fmt -w -
expect "-w with --check" 2 "$STB" fmt -w --check pretty.stb
expect "a file that is not there" 1 "$STB" fmt nowhere.stb
expect "a directory" 1 "$STB" fmt .
for spec in "$repo"/specs/*.stb; do expect "$(basename "$spec") is in form" 0 "$STB" fmt --check "$spec"; done
for doc in README.md grammar/preface.md; do
	awk -v out="$work/$(basename "$doc" .md)" '/^```stb$/ { on = 1; n++; next } /^```/ { on = 0 } on { print > (out "-" n ".stb") }' "$repo/$doc"
done
for spec in "$work"/README-*.stb "$work"/preface-*.stb; do
	grep -q '^stb 1' "$spec" || continue
	expect "the example $(basename "$spec" .stb) is in form" 0 "$STB" fmt --check "$spec"
	expect "and checks" 0 "$STB" check "$spec"
done
exit $failed
