#!/usr/bin/env bash
# `stb check` for programs: SARIF and GitHub commands are well formed and point at the right bytes, and a secret that was written into a spec
# is shown by no command in no form, wherever it stands.
. "$(dirname "$0")/../support/integration.bash"

cd "$work" || exit 1

# --- for people: a path that opens from where stb was started ---------------------------------------------------------------------------

mkdir -p people/.git people/specs people/beside
printf 'stb 1\ninclude "lib.stb"\nsuite x { titel = "a" }\n' >people/specs/top.stb
printf 'stb 1\nworkload io w { iodeph = 4 }\n' >people/specs/lib.stb
# opens FROM PATH: every place named by `stb check PATH` from FROM opens there, and there are two
opens() {
	(
		cd "$1" || exit 1
		"$STB" check "$2" 2>err
		n=0
		for place in $(sed -nE 's/^ *(-->|:::) (.*):[0-9]+:[0-9]+$/\2/p' err | sort -u); do
			[ -f "$place" ] || { echo "no $place"; exit 1; }
			n=$((n + 1))
		done
		[ $n = 2 ] || { cat err; exit 1; }
	)
}
for from in people people/specs people/beside . /; do
	path=$work/people/specs/top.stb
	holds "places open from $from, the path absolute" opens "$from" "$path"
	[ "$from" = / ] || holds "places open from $from, the path relative" opens "$from" "$(realpath --relative-to="$from" "$path")"
done
(cd people/beside && "$STB" check --format github ../specs/top.stb) >out 2>&1
says "for programs they are relative to the repository" 'file=specs/top\.stb' out

# --- SARIF ---------------------------------------------------------------------------------------------------------------------------

mkdir -p "repo/.git" "repo/a b"
cat >"repo/a b/容量,%.stb" <<'S'
stb 1
suite x { label = "容量"  titel = "100%" }
workload io w {
	iodeph = 4
	rw = read
	rw = write
}
S
cat >repo/good.stb <<'S'
stb 1
S
(cd repo && "$STB" check --format sarif good.stb "a b/容量,%.stb" absent.stb) >log.sarif 2>err
rc=$?
if [ $rc = 1 ] && [ ! -s err ]; then ok "SARIF of three files"; else bad "SARIF of three files" "exit $rc, $(cat err)"; fi

python3 - "repo/a b/容量,%.stb" log.sarif <<'P' >sarif.out 2>&1
import json, sys, urllib.parse
text = open(sys.argv[1], encoding="utf-8").read().split("\n")
log = json.load(open(sys.argv[2], encoding="utf-8"))
assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0" and len(log["runs"]) == 1, log.keys()
run = log["runs"][0]
driver = run["tool"]["driver"]
assert driver["name"] == "stb" and driver["version"], driver
assert run["columnKind"] == "unicodeCodePoints" and "%SRCROOT%" in run["originalUriBaseIds"]
ids = [r["id"] for r in driver["rules"]]
assert len(set(ids)) == len(ids)
for r in driver["rules"]:
    assert r["shortDescription"]["text"] and r["fullDescription"]["text"], r
    assert r["defaultConfiguration"]["level"] in ("error", "warning", "note")

def place(p):
    where = p["artifactLocation"]
    assert where["uriBaseId"] == "%SRCROOT%" and not where["uri"].startswith("/")
    assert where["uri"].isascii() and " " not in where["uri"], where
    assert urllib.parse.unquote(where["uri"]) == "a b/容量,%.stb", where
    return covered(p["region"])

def covered(g):
    assert g["startLine"] == g["endLine"] and 1 <= g["startColumn"] <= g["endColumn"]
    return text[g["startLine"] - 1][g["startColumn"] - 1:g["endColumn"] - 1]

seen = {}
for r in run["results"]:
    assert set(r) <= {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "fixes"}, r
    assert ids[r["ruleIndex"]] == r["ruleId"] and r["message"]["text"]
    for l in r["locations"]:
        seen.setdefault(r["ruleId"], []).append(place(l["physicalLocation"]))
    for i, l in enumerate(r.get("relatedLocations", [])):
        assert l["id"] == i + 1 and l["message"]["text"]
        place(l["physicalLocation"])
    for f in r.get("fixes", []):
        for c in f["artifactChanges"]:
            assert urllib.parse.unquote(c["artifactLocation"]["uri"]) == "a b/容量,%.stb"
            for x in c["replacements"]:
                seen.setdefault("fixes", []).append((covered(x["deletedRegion"]), x["insertedContent"]["text"]))
assert sorted(seen["E0203"]) == ["iodeph", "titel"], seen
assert seen["E0205"] == ["rw"], seen
assert sorted(seen["fixes"]) == [("iodeph", "iodepth"), ("titel", "title")], seen
unread = [r for r in run["results"] if r["ruleId"] == "E0101"]
assert len(unread) == 1 and unread[0]["locations"] == [], unread
print("fine")
P
if grep -qx fine sarif.out; then ok "SARIF is well formed and points at the right text"; else bad "SARIF structure" "$(tail -3 sarif.out)"; fi

# --- GitHub --------------------------------------------------------------------------------------------------------------------------

(cd repo && "$STB" check --format github "a b/容量,%.stb") >github.out 2>err
if grep -qF '::error file=a b/容量%2C%25.stb,line=4,col=9,endLine=4,endColumn=15,title=E0203::workload io has no attribute `iodeph`' github.out &&
	! grep -qv '^::' github.out; then
	ok "GitHub commands escape what separates"
else
	bad "GitHub commands" "$(cat github.out err)"
fi

# --- secrets -------------------------------------------------------------------------------------------------------------------------

# Every line is a spec; @ stands for the secret, $N for a line end.
cat >secrets.txt <<'S'
database external d { password = "@" }
database external d { password = "hunter\u{32}secret" foo = 1 host = "@" prt = 2 }
database external d { password = "x\"@"  prot = "x\"@" }
let pw = "@" 3$Ndatabase external d { password = pw }
let pw = "@$Ndatabase external d { password = pw }
let pw = "@"$Ndatabase external d { password = pw  host = pw port = pw hst = pw }
database external d { password = pw }$Nlet pw = "@" let pw = "@" x
param pw = "@"$Ndatabase external d { password = pw }
let a = "@"$Ndatabase external d { password = "${a}word" prt = 3 }
let a = "@"$Nlet b = "${a}!" 4k$Ndatabase external d { password = b host = 4k prt = b }
database external d { password = ["a","@"] }
database external d { password = ["a",$N "@",$N 4k] }
database external d { password =$N "@" $N x 4 }
database external d { password =$N @ $N x 4 }
database external d { password = # where$N "@" 4k }
database external d { password = ("@" }
database external d { password = "@
database external d { password = "a" + "@" + 4k }
database external d { password = env(@) }
database external d { password = env("A" + "@") }
database external d { password = secret("@") }
database external d { password = min("@", 1) }
database external d { pasword = "@" }
database external d { pass = "@" }
database external d { PASSWORD = "@" }
database external d { password: "@", host = 3 }
database external d { password := "@" host = 3 }
database external d { password == "@" host = 3 }
database external d { password "@" host = 3 }
database external d { password = '@' host = 3 }
database external d { password = @; host = 4k }
database external d { password = "${@}" }
database external d { password = "\q@" }
database external d { password { x = "@" } }
database external d { password = env("A") password = "@" }
database external d { prot = 3 host = host-@ password = "@" port = "@" }
database external d { password = "@" note = "@" label = 4 }
database external d { password = "@" host = "a" }$Ndatabase external e { like = d prt = 3 }
database external d { tls_password = "@" }
database mysql d { options { password = "@" } }
matrix m { override { where { } database.password = "@" } }
matrix m { axis a { set = database.password values = ["@", "b"] } }
matrix m { axis a { point x { database.password = "@" } } }
database external d { host = "h" }$Nprofile p { database external d { password = "@" } }
database external d { host = "h" }$Nprofile p { database external * { password = "@" x = 3 } }
suite x { password = "@" }
password = "@"
let db_password = "@"$Nlet x = db_password + 3
let root = "@"$Ndatabase external d { host = root password = root }$Nworkload io w { bs = root filename = root }
S
secret=hunter2secret
printf 'stb 1\n' >empty.stb
n=0
shown=()
while IFS= read -r line; do
	n=$((n + 1))
	line=${line//@/"$secret"}
	printf 'stb 1\n%s\n' "${line//\$N/$'\n'}" >secret.stb
	{
		for format in human json github sarif; do "$STB" check --format $format secret.stb && echo "accepted by $format: $secret"; done
		"$STB" plan secret.stb
		"$STB" explain secret.stb
		"$STB" diff empty.stb secret.stb
		"$STB" fmt -w secret.stb
	} >secret.out 2>&1
	grep -qF hunter secret.out && shown+=("$n: $line: $(grep -F hunter secret.out | head -1)")
done <secrets.txt
if [ $n = 49 ] && [ ${#shown[@]} = 0 ]; then
	ok "$n ways to write a secret show it nowhere"
else
	bad "a secret is shown" "$n lines; $(printf '%s\n' "${shown[@]}" | head -5)"
fi

# more secrets than are looked for one by one: then nothing is quoted at all
{
	printf 'stb 1\n'
	for i in $(seq 1100); do printf 'database external d%d { password = "hunter%d" }\n' "$i" "$i"; done
	printf 'database external x { prot = "hunter1099" }\n'
} >many.stb
for format in human json github sarif; do "$STB" check --format $format many.stb; done >many.out 2>&1
if grep -q E0314 many.out && ! grep -q hunter many.out; then ok "a thousand secrets"; else bad "a thousand secrets" "$(grep -m1 hunter many.out)"; fi

exit $failed
