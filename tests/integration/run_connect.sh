#!/usr/bin/env bash
# run_connect.sh - the way to a server that is there already: encryption, what is verified, what is never sent, and servers that do not answer.
. "$(dirname "$0")/../support/integration.bash"
. "$(dirname "$0")/../support/server.bash"
cd "$work" || exit 1

for tool in openssl python3; do
	command -v $tool >/dev/null || { skip "connect: a server of one's own" "needs $tool"; exit 0; }
done
[ -z "$(lacks_server)" ] || { skip "connect: a server of one's own" "needs $(lacks_server)"; exit 0; }
port=$((20000 + $$ % 10000)) # loopback only
password=secret_word_$$

# --- certificates: of an authority for this host, of the same for another, of an authority that nobody named

authority() { openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -subj "/CN=test authority $1" -days 2 2>>openssl.log; }
certificate() { # NAME AUTHORITY EXTENSION
	openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>>openssl.log
	printf '%s' "$3" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.pem" 2>>openssl.log
}
authority ours
authority theirs
certificate here ours 'subjectAltName=DNS:localhost,IP:127.0.0.1'
certificate elsewhere ours 'subjectAltName=DNS:elsewhere.example'
certificate client ours 'keyUsage=digitalSignature'

make_server "$work/data"
server= # pid
stop_server() { [ -n "$server" ] && kill -KILL "$server" 2>/dev/null && wait "$server" 2>/dev/null; server=; }
at_end stop_server
sql() { sql_through "$work/sock" "" "$1"; }
start_server() { # OPTIONS...
	stop_server
	run_server "$work/data" "$work/sock" --bind-address=127.0.0.1 --port=$port --skip-name-resolve "$@" >>server.log 2>&1 &
	server=$!
	wait_for 60 sql "SELECT 1"
}
with_tls() { start_server --ssl-cert="$work/$1.pem" --ssl-key="$work/$1.key" --ssl-ca="$work/ours.pem"; }

spec() { # LINES-OF-THE-DATABASE
	cat <<SPEC
stb 1
storage external disk {}
volume v { storage = disk }
database external server {
  volume   = v
  host     = "127.0.0.1"
  port     = $port
  user     = "bench"
  password = env("STB_TEST_PASSWORD")
$1
}
workload oltp points { database = server  script = point_select  table_size = 100  time = 300ms }
matrix m { workload = points }
report r { rows = workload  metrics = [tps] }
SPEC
}
export STB_TEST_PASSWORD=$password
n=0
try() { # NAME CODE LINES
	n=$((n + 1))
	spec "$3" >"s$n.stb"
	expect "$1" "$2" "$STB" run "s$n.stb" -o "run$n"
}

with_tls here
sql "CREATE DATABASE sbtest; CREATE USER bench@'%' IDENTIFIED BY '$password'; GRANT ALL ON sbtest.* TO bench@'%'"

# --- encryption: the server itself lets nobody in without

try "plain: a server that lets it be" 0 ''
says "plain: measured" ',tps,.*,ok$' "run$n/results.csv"
holds "the library is in the record" jq -e '.client_library | test("^(MariaDB Connector/C|libmysqlclient) [0-9]")' "run$n/environment.json"
holds "and how it serves prepared statements" jq -e '.client_prepared | test("^(sent and received apart|waited for), by ")' "run$n/environment.json"
holds "and in stb version" sh -c '"$1" version | grep -qE "^database client: (MariaDB Connector/C|libmysqlclient) [0-9][0-9.]*; prepared statements are "' - "$STB"
holds "it is the library that is linked" sh -c 'case $(ldd "$1") in
	*libmysqlclient*) "$1" version | grep -q "^database client: libmysqlclient" ;;
	*libmariadb*) "$1" version | grep -q "^database client: MariaDB Connector/C" ;;
	*) false ;; esac' - "$STB"
holds "the tables are gone at the end" test "$(sql "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'sbtest'")" = 0
sql "ALTER USER bench@'%' REQUIRE SSL"
try "plain: where the server wants more" 3 ''
lacks "plain: the password is not shown" "$password"
try "required" 0 '  tls = required'
says "required: measured" ',tps,.*,ok$' "run$n/results.csv"
holds "required: all of it was encrypted" test "$(sql "SHOW GLOBAL STATUS LIKE 'Ssl_finished_accepts'" | cut -f 2)" -ge 3
holds "required: what was negotiated is in the record" jq -e '[.databases.server.servers[].encryption | (.version | test("^TLSv1[.][23]$")) and (.cipher | test("^[A-Z0-9_-]{8,}$"))] == [true]' "run$n/environment.json"
holds "plain: nothing was" jq -e '[.databases.server.servers[] | has("encryption")] == [false]' run1/environment.json
try "verify_ca" 0 "  tls = verify_ca
  tls_ca = \"$work/ours.pem\""
try "verify_identity" 0 "  tls = verify_identity
  tls_ca = \"$work/ours.pem\""
holds "where what is trusted lies is in the record" jq -e '.addresses.server.tls_ca | endswith("ours.pem")' "run$n/environment.json"
try "verify_ca: an authority that nobody named" 3 "  tls = verify_ca
  tls_ca = \"$work/theirs.pem\""
says "verify_ca: says so" 'certificate'
try "verify_identity: an authority that nobody named" 3 "  tls = verify_identity
  tls_ca = \"$work/theirs.pem\""
try "a file that is not there" 3 "  tls = verify_ca
  tls_ca = \"$work/nothing.pem\""
says "a file that is not there: is named" 'cannot read .tls_ca. of database .server. from .*nothing\.pem.*No such file'

sql "ALTER USER bench@'%' REQUIRE X509"
try "a client's certificate is wanted" 3 '  tls = required'
try "a client's certificate" 0 "  tls = verify_identity
  tls_ca = \"$work/ours.pem\"
  tls_cert = \"$work/client.pem\"
  tls_key = \"$work/client.key\""
sql "ALTER USER bench@'%' REQUIRE NONE"

with_tls elsewhere
try "verify_ca: the name of another host is nobody's business" 0 "  tls = verify_ca
  tls_ca = \"$work/ours.pem\""
try "verify_identity: the name of another host" 3 "  tls = verify_identity
  tls_ca = \"$work/ours.pem\""
says "verify_identity: says so" 'certificate'

start_server $no_tls
try "required: a server without TLS" 3 '  tls = required'
says "required: is not spoken to in plain text" "speaks no TLS|does(n't| not) support"
try "verify_ca: a server without TLS" 3 "  tls = verify_ca
  tls_ca = \"$work/ours.pem\""

# --- passwords

STB_TEST_PASSWORD=wrong_word_$$ try "a wrong password" 3 ''
says "a wrong password: says who and where" 'cannot connect to the database as .bench. at .127\.0\.0\.1:'"$port"'.*\(1045\)'
lacks "a wrong password: is not shown" "wrong_word_$$"
holds "a wrong password: nor anywhere in what was written" sh -c '! grep -rqF "wrong_word_'$$'" .'
stop_server

# servers that are none: one that takes connections and never says a word, and one that asks for the password in clear text
cat >fake.py <<'PY'
import socket, struct, sys

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(64)
print("ready", flush=True)
kept = []

def packet(seq, body):
    return struct.pack("<I", len(body))[:3] + bytes([seq]) + body

while True:
    peer, _ = listener.accept()
    kept.append(peer)
    if sys.argv[2] == "silent":
        continue
    greeting = (b"\x0a10.11.0-MariaDB\0" + struct.pack("<I", 7) + b"12345678\0" + b"\xff\xf7\x08\x02\x00\xff\x81\x15" + b"\0" * 10
                + b"123456789012\0mysql_native_password\0")
    peer.sendall(packet(0, greeting))
    got = peer.recv(4096)
    peer.sendall(packet(got[3] + 1, b"\xfe" + sys.argv[3].encode() + b"\0"))
    try:
        got += peer.recv(4096)
    except OSError:
        pass
    with open("heard", "ab") as f:
        f.write(got)
    peer.close()
PY
fake= # pid
stop_fake() { [ -n "$fake" ] && kill -KILL "$fake" 2>/dev/null && wait "$fake" 2>/dev/null; fake=; }
at_end stop_fake
start_fake() {
	stop_fake
	: >fake.log
	python3 fake.py $port "$@" >fake.log 2>&1 &
	fake=$!
	wait_for 20 grep -q ready fake.log
}
for plugin in mysql_clear_password dialog mysql_old_password; do
	start_fake asks $plugin
	try "$plugin: refused" 3 ''
	says "$plugin: says so" 'cannot connect to the database as .bench.'
	holds "$plugin: was asked for" test -s heard
	holds "$plugin: the password is not sent" sh -c '! grep -qF "'"$password"'" heard'
	rm -f heard
done
start_fake silent
try "silent: gives up" 3 ''
says "silent: says where" 'cannot connect to the database as .bench. at .127\.0\.0\.1:'
stop_fake
try "nobody there" 3 ''
says "nobody there: says where" '127\.0\.0\.1:'"$port"

exit $failed
