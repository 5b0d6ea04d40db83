#!/usr/bin/env bash
# git_recipes.sh - `stb diff` on revisions of git, and the recipes of grammar/recipes, in a repository made here.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$work/gitconfig GIT_PAGER=cat
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_EXTERNAL_DIFF
mkdir bin
ln -s "$STB" bin/stb
export PATH=$work/bin:$PATH
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always

git init -q repo
cd repo || exit 1
mkdir -p grammar specs
cp -r "$repo/grammar/recipes" grammar/
cat >specs/common.stb <<'SPEC'
stb 1

storage directory fast { path = "/srv/fast" }

storage directory slow { path = "/srv/slow" }
SPEC
cat >specs/x.stb <<'SPEC'
stb 1
include "common.stb"

volume v { size = 1GiB }

workload io w {
  volume  = v
  size    = 1MiB
  rw      = write
  runtime = 5s
}

matrix m {
  storage  = [fast, slow]
  workload = w
}
SPEC
printf '*.stb diff=stb\n' >.gitattributes
git add -A
git commit -qm one
one=$(git rev-parse HEAD)
sed -i 's|directory slow { path = "/srv/slow" }|tmpfs slow { size = 2GiB }|' specs/common.stb
sed -i 's/runtime = 5s/runtime = 9s/' specs/x.stb
git commit -qam two

# revisions
expect "two revisions" 0 stb diff HEAD~1:specs/x.stb HEAD:specs/x.stb
says "the attribute" 'workload w: runtime 5s -> 9s, in 2 cells \(specs/x.stb:10\)' ../out
says "the include of each revision" 'storage slow: type directory -> tmpfs, in 1 cell \(specs/common.stb:5\)' ../out
expect "--exit-code" 4 stb diff --exit-code "$one:specs/x.stb" specs/x.stb
expect "a revision and the working tree" 0 stb diff --exit-code HEAD:specs/x.stb specs/x.stb
says "are the same" 'no change in meaning' ../out
(cd specs && stb diff HEAD~1:./x.stb x.stb >../../here)
says "./ is relative to here" 'runtime 5s -> 9s' ../here
expect "JSON" 0 stb diff HEAD~1:specs/x.stb HEAD:specs/x.stb --format json
holds "is JSON" jq -e '.changed and (.changes | length > 0) and .results.kept == 0' ../out
expect "a new file" 0 stb diff /dev/null HEAD:specs/x.stb
expect "no such revision" 1 stb diff nowhere:specs/x.stb specs/x.stb
says "is named" 'no revision `nowhere`'
expect "no such file in it" 1 stb diff HEAD:specs/none.stb specs/x.stb
expect "a directory in it" 1 stb diff HEAD:specs specs/x.stb
expect "a revision that looks like an option" 1 stb diff -- '--output=pwned:specs/x.stb' specs/x.stb
expect "one with a line end" 1 stb diff "HEAD
HEAD:specs/x.stb" specs/x.stb
holds "nothing was written" test -z "$(git status --porcelain)"
sed 's/9s/9x/' specs/x.stb >broken.stb
expect "OLD that does not compile" 1 stb diff broken.stb specs/x.stb
says "has its diagnostics" 'broken.stb:10:'
rm broken.stb

# the include rule holds in a revision too; links are followed inside of it only
ln -s common.stb specs/link.stb
ln -s ../../outside.stb specs/away.stb
ln -s loop.stb specs/loop.stb
ln -s specs dir
cp specs/common.stb ../outside.stb
for case in link.stb:0 away.stb:1 loop.stb:1 ../../outside.stb:1 ../dir/common.stb:0; do
	sed "s|common.stb|${case%:*}|" specs/x.stb >specs/y.stb
	git add -A
	git commit -qm "include ${case%:*}"
	expect "include ${case%:*} in a revision" "${case#*:}" stb diff HEAD:specs/y.stb HEAD:specs/y.stb
done
git reset -q --hard "$(git rev-parse HEAD~5)"

# nothing that a repository configures is run
git config diff.stb.textconv "touch $work/ran-textconv; cat"
git config filter.evil.smudge "touch $work/ran-smudge; cat"
printf '*.stb diff=stb filter=evil\n' >.git/info/attributes
expect "a hostile configuration" 0 stb diff HEAD~1:specs/x.stb HEAD:specs/x.stb
holds "runs nothing" test ! -e "$work/ran-textconv" -a ! -e "$work/ran-smudge"
rm .git/info/attributes
git config --unset diff.stb.textconv

# textconv: a reformat is nothing
git config diff.stb.textconv "sh grammar/recipes/stb-textconv"
printf 'stb 1 include "common.stb" volume v { size=1GiB }\nworkload io w { runtime=9s rw=write size=1MiB volume=v }\nmatrix m { workload=w storage=[fast,slow] }\n' >specs/x.stb
holds "git diff shows no changed attribute" test -z "$(git diff -- specs/x.stb | grep -E '^[-+] ')"
sed -i 's/9s/8s/' specs/x.stb
git diff -- specs/x.stb >../shown
says "but a changed one, as one line" '^\+  runtime = 8s' ../shown
holds "and only that" test "$(grep -cE '^[-+] ' ../shown)" = 2
printf 'stb 1 volume {' >specs/x.stb
git diff -- specs/x.stb >../shown
says "a spec with errors is shown as it is" '^\+stb 1 volume \{' ../shown
git checkout -q specs/x.stb
git config --unset diff.stb.textconv

# the external driver: a change means this
git config diff.stb.command "sh grammar/recipes/stb-diff-driver"
sed -i 's/9s/7s/' specs/x.stb
git diff >../shown
says "git diff says what changes" 'workload w: runtime 9s -> 7s, in 2 cells' ../shown
git add -A
git diff --cached >../shown
says "--cached with includes" 'runtime 9s -> 7s|^\+  runtime = 7s' ../shown
printf 'stb 1 volume {' >specs/x.stb
git diff >../shown
says "a spec with errors is compared as text" '^\+stb 1 volume \{' ../shown
git reset -q --hard
git config --unset diff.stb.command

# the workflow: its steps as they stand in the file
steps() { # NAME-OF-WORKFLOW: the last `run: |` of it
	awk -v want="name: $1" '
		/^---$/ { in_it = 0 }
		/^name: / { in_it = $0 == want }
		in_it && /^        run: \|$/ { on = 1; next }
		on && /^          / { print substr($0, 11); next }
		on && !/^ *$/ { on = 0 }' grammar/recipes/pull-request.yml
}
steps "stb read" >../read.sh
steps "stb post" >../post.sh
holds "the steps are found" test -s ../read.sh -a -s ../post.sh
git clone -q --bare . ../origin.git
git clone -q ../origin.git ../fork
(
	cd ../fork && git checkout -q -b '@team/#1' &&
		sed -i 's/9s/4s/; s/matrix m {/matrix m {\n  label = "@org see http:\/\/example.org <b>"/' specs/x.stb &&
		printf 'stb 1 volume {' >specs/wrong.stb && git add -A && git commit -qm change && git push -q origin HEAD
) >/dev/null 2>&1
git remote add origin ../origin.git
head=$(git -C ../fork rev-parse HEAD)
mkdir ../runner
git clone -q ../origin.git ../runner/checkout
cd ../runner/checkout || exit 1
git checkout -q main
expect "job one reads the pull request" 0 env BASE="$(git rev-parse main)" HEAD="$head" NUMBER=17 bash -eo pipefail "$work/read.sh"
says "says what changes" 'workload w: runtime *\| 9s' result/comment.md
says "and what does not compile" '^    .*specs/wrong.stb|^    .*wrong.stb' result/comment.md
lacks "calls nobody" '@[a-z]' result/comment.md
lacks "links nowhere" '://' result/comment.md
holds "checked nothing out" test "$(git rev-parse HEAD)" = "$(git rev-parse main)"
cat >"$work/bin/gh" <<SCRIPT
#!/bin/sh
case \$1 in
api) echo $head ;;
pr) echo "\$*" >>$work/posted; cat comment.md >>$work/posted ;;
esac
SCRIPT
chmod +x "$work/bin/gh"
expect "job two posts it" 0 env GH_TOKEN=t REPOSITORY=a/b HEAD="$head" bash -eo pipefail "$work/post.sh"
says "to the pull request" '^pr comment 17 --repo a/b' "$work/posted"
expect "not where the head is another" 1 env GH_TOKEN=t REPOSITORY=a/b HEAD=0000 bash -eo pipefail "$work/post.sh"
holds "the reading job has no token that writes" test -z "$(sed '/^---$/q' grammar/recipes/pull-request.yml | grep -v '^#' | grep -E 'write|secrets|GH_TOKEN')"
exit $failed
