#!/usr/bin/env bash
# What a hostile or broken file can do to the compiler: one diagnostic, in bounded time and memory. And includes that lead out of the
# repository, in circles, or to what is no file: one diagnostic each, and nothing is opened.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1

# limited CODE ARGUMENTS...: stb in 2 GiB of address space and 60 s, diagnostics counted in $n
limited() {
	(ulimit -v 2097152 && exec timeout 60 "$STB" "$@") >out 2>err </dev/null
	code=$?
	n=$(grep -cE '^error\[' err)
}

# --- sizes ---------------------------------------------------------------------------------------------------------------------------

# fill NAME HEAD UNIT TAIL: a file of 64 MiB
fill() {
	python3 - "$@" <<'P'
import sys
name, head, unit, tail = sys.argv[1], *(a.encode().decode("unicode_escape").encode() for a in sys.argv[2:5])
room = (64 << 20) - len(head) - len(tail)
with open(name, "wb") as f:
    f.write(head + unit * (room // len(unit)) + tail)
P
}

# wrong NAME CODE HEAD UNIT [TAIL]: exactly this error
wrong() {
	fill big.stb "$3" "$4" "${5:-}"
	limited check big.stb
	if [ $code = 1 ] && [ "$n" = 1 ] && grep -q "$2" err; then ok "64 MiB of $1"; else bad "64 MiB of $1" "exit $code, $n errors: $(grep -m2 '^error' err)"; fi
}

# fine NAME HEAD UNIT [TAIL]
fine() {
	fill big.stb "$2" "$3" "${4:-}"
	limited check big.stb
	if [ $code = 0 ] && [ "$n" = 0 ]; then ok "64 MiB of $1"; else bad "64 MiB of $1" "exit $code: $(grep -m2 '^error' err)"; fi
}

fine "comments" 'stb 1\n' '# hello\n'
fine "one comment" 'stb 1\n# ' 'x'
fine "blank lines" 'stb 1\n' '\n'
fine "one string" 'stb 1\nlet a = "' 'x' '"\n'
wrong "braces" E0107 'stb 1\n' '{'
wrong "closing braces" E0108 'stb 1\n' '}'
wrong "brackets" E0111 'stb 1\nlet a = ' '['
wrong "signs" E0111 'stb 1\nlet a = ' '-'
wrong "a list" E0111 'stb 1\nlet a = [' '1,' '1]'
wrong "an open string" E0105 'stb 1\nlet a = "' 'x'
wrong "NUL bytes" E0102 'stb 1\n' '\x00'
printf '#' >>big.stb
limited check big.stb
if [ $code = 1 ] && [ "$n" = 1 ] && grep -q 'E0101.*larger than 64 MiB' err; then ok "a file over 64 MiB"; else bad "a file over 64 MiB" "$(head -1 err)"; fi
limited fmt big.stb
if [ $code = 1 ] && [ "$n" = 1 ]; then ok "fmt of a file over 64 MiB"; else bad "fmt of a file over 64 MiB" "$(head -1 err)"; fi
fill big.stb 'stb 1\n' 'password = a\n' ''
limited check big.stb
if [ $code = 1 ]; then ok "64 MiB of secrets"; else bad "64 MiB of secrets" "exit $code"; fi
rm big.stb

# --- depth, errors, cells ------------------------------------------------------------------------------------------------------------

{ printf 'stb 1\nlet a = '; printf '(%.0s' $(seq 201); printf '1'; printf ')%.0s' $(seq 201); echo; } >deep.stb
limited check deep.stb
if [ $code = 1 ] && [ "$n" = 1 ] && grep -q E0111 err; then ok "depth over 200"; else bad "depth over 200" "$(grep '^error' err)"; fi
{ printf 'stb 1\nlet a = '; printf '(%.0s' $(seq 199); printf '1'; printf ')%.0s' $(seq 199); echo; } >deep.stb
expect "depth below 200" 0 "$STB" check deep.stb
{ printf 'stb 1\n'; for i in $(seq 2000 -1 1); do printf 'let a%d = a%d + 1\n' "$i" $((i - 1)); done; echo 'let a0 = 1'; } >chain.stb
limited check chain.stb
if [ $code = 1 ] && [ "$n" = 1 ] && grep -q E0322 err; then ok "lets that nest"; else bad "lets that nest" "exit $code: $(grep '^error' err | head -2)"; fi
{ printf 'stb 1\n'; for i in $(seq 500); do printf 'volume v%d { sise = 1 }\n' "$i"; done; } >errors.stb
limited check errors.stb
if [ $code = 1 ] && [ "$n" = 101 ] && [ "$(grep -c E0115 err)" = 1 ]; then ok "more than 100 errors"; else bad "more than 100 errors" "$n"; fi

cat >cells.stb <<'S'
stb 1
storage loop d { size = 20GiB }
volume v { }
workload io w { volume = v  rw = read  size = 1GiB  ioengine = libaio  direct = true }
matrix m {
	storage = d
	workload = w
	axis a { set = workload.iodepth  values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }
	axis b { set = workload.loops    values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }
	axis c { set = workload.bs       values = [4KiB, 8KiB, 16KiB, 32KiB, 64KiB, 128KiB, 256KiB, 512KiB, 1MiB, 2MiB] }
	axis d { set = workload.size     values = [1GiB, 2GiB, 3GiB, 4GiB, 5GiB, 6GiB, 7GiB, 8GiB, 9GiB, 10GiB] }
	axis e { set = workload.ramp_time values = [1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 10s, 11s] }
}
S
for command in check plan; do
	limited $command cells.stb
	if [ $code = 1 ] && [ "$n" = 1 ] && grep -q 'E0505.*110,000 cells, more than the 100,000' err; then ok "$command of a product over the cap"
	else bad "$command of a product over the cap" "exit $code: $(grep '^error' err | head -2)"; fi
	limited $command --max-cells 109999 cells.stb
	if [ $code = 1 ] && [ "$n" = 1 ] && grep -q 'more than the 109,999' err; then ok "$command --max-cells below"; else bad "$command --max-cells below" "$code"; fi
	limited $command --max-cells 110000 cells.stb
	if [ $code = 0 ] && [ "$n" = 0 ]; then ok "$command --max-cells"; else bad "$command --max-cells" "exit $code: $(grep '^error' err | head -2)"; fi
done

# --- includes ------------------------------------------------------------------------------------------------------------------------

mkdir -p repository/.git repository/sub outside
echo 'stb 1' >outside/x.stb
cd repository || exit 1
ln -s ../outside/x.stb out.stb
ln -s ../../outside sub/folder
ln -s round.stb circle.stb
ln -s circle.stb round.stb
ln -s nowhere.stb dangling.stb
mkfifo fifo.stb
ln -s fifo.stb link_to_fifo.stb
mkdir folder.stb
truncate -s 64M large.stb && echo >>large.stb
echo 'stb 1' >sub/fine.stb
printf 'stb 1\ninclude "mutual_b.stb"\n' >mutual_a.stb
printf 'stb 1\ninclude "mutual_a.stb"\n' >mutual_b.stb
python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("socket.stb")'

# include NAME CODE PATH
include() {
	printf 'stb 1\ninclude "%s"\n' "$3" >top.stb
	limited check top.stb
	if [ $code = 1 ] && [ "$n" = 1 ] && grep -q "^error\[$2\]" err; then ok "include of $1"; else bad "include of $1" "exit $code: $(grep '^error' err)"; fi
}
include "what lies above" E0211 ../outside/x.stb
include "what lies above, by detours" E0211 sub/../../outside/x.stb
include "an absolute path" E0211 "$work/outside/x.stb"
include "a link that leads out" E0211 out.stb
include "a folder that leads out" E0211 sub/folder/x.stb
include "links in a circle" E0210 circle.stb
include "a link to nowhere" E0210 dangling.stb
include "a FIFO" E0213 fifo.stb
include "a link to a FIFO" E0213 link_to_fifo.stb
include "a socket" E0213 socket.stb
include "a folder" E0213 folder.stb
include "nothing" E0323 ""
include "the file itself" E0212 top.stb
include "files in a circle" E0212 mutual_a.stb
include "a large file" E0214 large.stb
include "a path through a file" E0210 sub/fine.stb/x
ln -s /dev/zero device.stb
include "a link to a device" E0211 device.stb
printf 'stb 1\ninclude "sub/fine.stb"\ninclude "./sub/../sub/fine.stb"\n' >top.stb
limited check top.stb
if [ $code = 0 ]; then ok "a file that is included twice counts once"; else bad "a file that is included twice counts once" "$(head -1 err)"; fi
for path in fifo.stb folder.stb socket.stb circle.stb /dev/zero; do
	limited check "$path"
	if [ $code = 1 ] && [ "$n" = 1 ] && grep -q E0101 err; then ok "check of $path"; else bad "check of $path" "exit $code: $(head -1 err)"; fi
done
cd ..
exit $failed
