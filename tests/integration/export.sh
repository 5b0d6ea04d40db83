#!/usr/bin/env bash
# export.sh - `stb export`: the command line, libvirt's XML by a parser of its own.
. "$(dirname "$0")/../support/integration.bash"
cd "$work" || exit 1
golden=$repo/tests/golden

# usage
expect "a format is needed" 2 "$STB" export
expect "a file too" 2 "$STB" export kubernetes
expect "an unknown format" 2 "$STB" export kubernets x.stb
says "it suggests the near one" 'did you mean .kubernetes'
expect "an unknown format, far from all" 2 "$STB" export zip x.stb
says "it lists them" 'kubernetes, libvirt'
expect "a spec that is not there" 1 "$STB" export kubernetes none.stb
expect "a format that needs no topology" 2 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb" --topology "$golden/topology/two_nodes.json"
says "it says so" 'has no use for .--topology'
expect "a topology that is not there" 3 "$STB" export libvirt "$golden/export/libvirt/two_nodes.stb" --topology none.json
expect "a spec that the format cannot say" 1 "$STB" export kubernetes "$golden/export/libvirt/two_nodes.stb"
says "it says what is missing" 'no cell has a volume on a storage class of type kubernetes'

# kubernetes
expect "classes and claims" 0 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb"
holds "three documents" test "$(grep -c '^kind:' out)" = 3
expect "of one cell" 0 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb" --cell 'storage = alicloud_disk_topology'
holds "one document" test "$(grep -c '^kind:' out)" = 1
id=$("$STB" plan "$golden/export/kubernetes/ack.stb" --format json | jq -r '.cells[0].id')
expect "by a prefix of its id" 0 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb" --cell "${id:0:10}"
expect "an id that no cell has" 2 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb" --cell 0123456789abcdef
says "it names the option" '--cell .0123456789abcdef. reads as'
expect "a selector with an axis that is not there" 2 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb" --cell 'storag = x'
says "it names the option too" '--cell names an axis .storag'
expect "what cannot be said is exit 1" 1 "$STB" export kubernetes "$golden/export/kubernetes/refused.stb" -o refused.yaml
holds "and is written all the same" grep -q '^# NOT TRANSLATED' refused.yaml
holds "with nothing on standard output" test ! -s out
expect "into a directory that is not there" 3 "$STB" export kubernetes "$golden/export/kubernetes/ack.stb" -o no/such/file

# libvirt
expect "cells that differ need a choice" 2 "$STB" export libvirt "$golden/export/libvirt/two_nodes.stb" --topology "$golden/topology/two_nodes.json"
says "it lists them with their ids" '^  [0-9a-f]{16}  published / s / w'
says "it says how to choose" '--cell '
n=0
for spec in "$golden"/export/libvirt/*.stb; do
	topology=$golden/topology/$(basename "$spec" .stb).json
	while read -r id; do
		"$STB" export libvirt "$spec" --cell "$id" --topology "$topology" >x.xml 2>err
		code=$?
		if [ $code -gt 1 ] || ! xmllint --noout x.xml 2>xmlerr; then
			bad "well-formed: $(basename "$spec") $id" "exit $code: $(cat err xmlerr)"
		fi
		holds "every vCPU is pinned: $(basename "$spec") $id" test "$(xmllint --xpath 'count(//vcpupin)' x.xml)" = "$(xmllint --xpath 'string(//vcpu)' x.xml)"
		n=$((n + 1))
	done < <("$STB" plan "$spec" --topology "$topology" --format json 2>/dev/null | jq -r '.cells[].id')
done
holds "$n cells of all topologies" test "$n" -ge 12
expect "the published binding" 0 "$STB" export libvirt "$golden/export/libvirt/two_nodes.stb" --cell 'server = published' --topology "$golden/topology/two_nodes.json"
holds "32 vCPUs in the first guest cell" test "$(xmllint --xpath 'string(//cell[@id=0]/@cpus)' out)" = 0-31
holds "its memory comes from node 1" test "$(xmllint --xpath 'string(//memnode[@cellid=0]/@nodeset)' out)" = 1
holds "the cells have all the memory" test "$(xmllint --xpath 'sum(//cell/@memory) = number(//domain/memory)' out)" = true

# sysbench: the words of a command line need -- in front
expect "import of a command line" 0 "$STB" import sysbench -- sysbench oltp_read_only --threads=4 --time=5 run
says "is a spec" '^workload oltp read_only' out
cp out imported.stb
expect "which is clean and in canonical form" 0 "$STB" check imported.stb
expect "byte for byte" 0 "$STB" fmt --check imported.stb
expect "without --" 2 "$STB" import sysbench sysbench oltp_read_only --threads=4 run
says "it says so" 'write .--. in front'
expect "without a command" 2 "$STB" import sysbench
expect "nothing to measure" 1 "$STB" import sysbench -- sysbench oltp_read_only cleanup
holds "writes nothing" test ! -s out
expect "a flag without a counterpart" 1 "$STB" import sysbench -- sysbench oltp_read_only --mysql-compression=on --time=5 run
says "the spec is written all the same" 'NOT TRANSLATED, changes what is measured: --mysql-compression=on' out
expect "a flag that there is not" 1 "$STB" import sysbench -- sysbench oltp_read_only --tabel-size=5 --time=5 run
says "the near one is named" 'did you mean --table-size'
printf 'threads=3\nmysql-password=hidden\n' >my.cnf
expect "a configuration file" 0 "$STB" import sysbench -- sysbench --config-file=my.cnf oltp_read_only --time=5 run
says "is read" 'threads += 3' out
lacks "but no secret copied" hidden out
lacks "nor shown" hidden err
mkdir folder.cnf
for cnf in none.cnf folder.cnf /dev/null -; do # what it says is not known, so there is no saying what was measured
	expect "one that cannot be read, $cnf" 1 "$STB" import sysbench -- sysbench --config-file "$cnf" oltp_read_only --time=5 run
	says "it says which" "cannot read .*$cnf" err
	holds "and writes nothing" test ! -s out
	expect "nor into a file" 1 "$STB" import sysbench -o never.stb -- sysbench oltp_read_only --time=5 run --config-file=$cnf
	holds "that would be made" test ! -e never.stb
done
printf 'threads=3\n' >./-
expect "one that is called -" 0 "$STB" import sysbench -- sysbench --config-file=- oltp_read_only --time=5 run
says "is no standard input" 'threads += 3' out
printf 'config-file=my.cnf\n' >chain.cnf
expect "one that names another" 0 "$STB" import sysbench -- sysbench --config-file=chain.cnf oltp_read_only --time=5 run
says "which sysbench does not follow either" 'threads += 1' out
says "is told" 'does not follow a configuration file' err
for w in fio kubernetes libvirt sysbench; do
	"$STB" export $w none.stb >out 2>err
	holds "completion's $w is a format" test $? = 1
done
exit $failed
