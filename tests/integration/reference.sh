#!/usr/bin/env bash
# reference.sh - explain of a cell, the generated documents, completion, and make install.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1

cat >origins.stb <<'SPEC'
stb 1
param seconds = 3s
storage directory here  { path = "/var/tmp" }
storage directory there { path = "/dev/shm" }
volume v {}
workload io w {
  volume  = v
  size    = 1MiB
  rw      = randwrite
  runtime = seconds
}
matrix m {
  storage  = [here, there]
  workload = [w]
  axis jobs {
    set    = workload.numjobs
    values = [1, 4]
  }
  override {
    where { storage = there }
    workload.bs = 8KiB
  }
}
profile small {
  workload io * { size = 512KiB }
}
SPEC

# every origin, with its place
expect "explain of a cell" 0 "$STB" explain 'storage = there  jobs = 4' origins.stb --profile small --set seconds=2s
says "names the cell and its matrix" '^cell [0-9a-f]{16} of matrix m +origins.stb:12:' out
says "default" '^ +ioengine += psync +default$' out
says "line" '^ +rw += randwrite +line +origins.stb:9:3$' out
says "override" '^ +bs += 8KiB +override +origins.stb:21:' out
says "profile" '^ +size += 512KiB +profile small +origins.stb:25:' out
says "axis" '^ +numjobs += 4 +axis jobs +origins.stb:17:' out
says "param" '^ +runtime += 2s +param +origins.stb:10:3$' out
says "an axis that binds" '^ +storage += there +axis storage +origins.stb:13:' out
says "the class too" '^ +path += "/dev/shm" +line +origins.stb:4:' out
lacks "the other class is not of this cell" '/var/tmp' out
id=$("$STB" plan origins.stb --format json | jq -r '.cells[0].id')
expect "by a prefix of its id" 0 "$STB" explain "${id:0:8}" origins.stb
says "it is that cell" "^cell ${id:0:16} " out
holds "one cell" test "$(grep -c '^cell ' out)" = 1
expect "a selector of all" 0 "$STB" explain 'storage = [here, there]' origins.stb
holds "four cells" test "$(grep -c '^cell ' out)" = 4
expect "no such cell" 2 "$STB" explain 00000000ffff origins.stb
expect "no such value" 2 "$STB" explain 'storage = nowhere' origins.stb
expect "no such file" 1 "$STB" explain "$id" none.stb
expect "a topic of two words is still one" 0 "$STB" explain workload io
expect "a profile without a cell" 2 "$STB" explain bs --profile small
expect "a form of the reference takes no topic" 2 "$STB" explain bs --format man

# forms
for form in markdown man bash zsh dictionary; do
	expect "the reference as $form" 0 "$STB" explain --format $form
	holds "$form is not empty" test -s out
	cp out "form.$form"
done
"$STB" explain --format markdown >again
holds "the same twice" cmp -s form.markdown again
holds "bash completion parses" bash -n form.bash
if command -v zsh >/dev/null; then holds "zsh completion parses" zsh -n form.zsh; fi
if command -v man >/dev/null && man --warnings -E UTF-8 -l form.man >page 2>warnings; then
	holds "the manual page draws no warnings" test ! -s warnings
fi

# completion at work: complete WORDS..., the last one is being written
complete_words() {
	bash -c '. ./form.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stb 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' _ "$@" >out
}
complete_words stb expl
says "a command" '^explain$' out
complete_words stb plan --pro
says "an option" '^--profile$' out
complete_words stb plan --format j
says "a format" '^json$' out
complete_words stb run --on
says "an option of run" '^--only$' out
complete_words stb check --on
lacks "which check does not have" 'only' out
complete_words stb explain iode
says "a topic" '^iodepth$' out
complete_words stb plan origins.stb --profile s
says "a profile of the spec" '^small$' out
complete_words stb plan origins.stb --set se
says "a param of the spec" '^seconds=$' out
complete_words stb plan or
says "a spec" '^origins.stb$' out

# install: a copy of the tree would be built anew, so it is done from here
expect "make install" 0 make -s -C "$repo" install DESTDIR="$work/root" PREFIX=/usr
for f in bin/stb share/man/man1/stb.1 share/bash-completion/completions/stb share/zsh/site-functions/_stb share/doc/stb/README.md \
	share/doc/stb/reference.md share/stb/specs/quickstart.stb; do
	holds "installs $f" test -s "root/usr/$f"
done
holds "the installed program runs" root/usr/bin/stb version
expect "make uninstall" 0 make -s -C "$repo" uninstall DESTDIR="$work/root" PREFIX=/usr
holds "leaves no file" test -z "$(find root -type f)"

exit $failed
