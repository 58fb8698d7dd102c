#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Prints a net file for ibsim: a fat tree or a torus of a given size.

    mknet.py fattree --nodes 500 [--levels 2|3] [--radix 36]
    mknet.py torus --nodes 500 [--dims 2|3] [--hosts 4]

The nodes are switches and hosts together, and there are exactly as many as
asked for. Hosts are host0001, host0002, ...; their names are their node ids
and descriptions. The first line has the options that ibsim needs for a net of
this size: it allocates for what they say, 2,048 nodes with 256 switches.
"""

import argparse
import itertools
import math
import sys

# ibsim follows a LID for so many switches, and then takes the port it is at
# for the goal.
MAX_SWITCHES_OF_PATH = 16
MAX_PORTS = 254
HOST_PORTS = 1


class Net:
    """Nodes, and the links between them."""

    def __init__(self):
        self.nodes = {}         # name -> [(peer, port of the peer) by port]
        self.switches = []
        self.hosts = []

    def switch(self, name):
        """Another switch; its name."""
        self.nodes[name] = []
        self.switches.append(name)
        return name

    def host(self, switch):
        """Another host, below this switch."""
        name = f"host{len(self.hosts) + 1:04}"
        self.nodes[name] = []
        self.hosts.append(name)
        self.link(switch, name)

    def link(self, one, other):
        """A link between the next free ports of the two."""
        ones, others = self.nodes[one], self.nodes[other]
        ones.append((other, len(others) + 1))
        others.append((one, len(ones)))

    def spread(self, lower, uplinks, upper):
        """Uplinks of each lower switch, evenly over the upper ones."""
        for count, (switch, _) in enumerate(
                itertools.product(lower, range(uplinks))):
            self.link(switch, upper[count % len(upper)])

    def ports(self, name, radix):
        """Ports of a node."""
        if name not in self.switches:
            return HOST_PORTS
        return max(radix, len(self.nodes[name]))

    def write(self, out, radix):
        """The net file, with the comments of ibnetdiscover's: ibsim warns of
        each link that has none."""
        switches = set(self.switches)
        ports = sum(max(radix, len(self.nodes[s])) + 1 for s in self.switches)
        print(f"# ibsim -N {len(self.nodes)} -S {max(1, len(switches))} "
              f"-P {ports + HOST_PORTS * len(self.hosts)}\n"
              f"# {len(self.hosts)} hosts, {len(switches)} switches, "
              f"{sum(map(len, self.nodes.values())) // 2} links", file=out)
        for name, links in self.nodes.items():
            if name in switches:
                size = max(radix, len(links))
                if size > MAX_PORTS:
                    sys.exit(f"mknet.py: {name} would have {size} ports")
                print(f'\nSwitch {size} "{name}" '
                      f'# "{name}" base port 0 lid 0 lmc 0', file=out)
                before = ""
            else:
                print(f'\nHca {HOST_PORTS} "{name}" # "{name}"', file=out)
                before = "lid 0 lmc 0 "
            for number, (peer, port) in enumerate(links, 1):
                print(f'[{number}] "{peer}"[{port}] '
                      f'# {before}"{peer}" lid 0 4xSDR', file=out)


def tree_shape(hosts, levels, radix):
    """Leaves, pods and the switches of each level of a tree of half-up,
    half-down switches."""
    half = radix // 2
    leaves = math.ceil(hosts / half)
    if leaves == 1:
        return 1, 1, 0, 0
    if levels == 2:
        return leaves, 1, 0, math.ceil(leaves * half / radix)
    pods = math.ceil(leaves / half)
    # As many switches on the middle level of a pod as it has leaves at most.
    middle = min(half, leaves)
    return leaves, pods, middle, math.ceil(pods * middle * half / radix)


def fat_tree(args):
    """Hosts on leaves; leaves on spines, or on pods and these on cores."""
    half = args.radix // 2
    levels = args.levels
    if not levels:
        most = args.radix * half + args.radix + half
        levels = 2 if args.nodes <= most else 3

    def size(hosts):
        leaves, pods, middle, top = tree_shape(hosts, levels, args.radix)
        return hosts + leaves + pods * middle + top

    hosts = max(h for h in range(1, args.nodes) if size(h) <= args.nodes)
    leaves, pods, middle, top = tree_shape(hosts, levels, args.radix)
    if (pods if levels == 3 else leaves) > args.radix:
        sys.exit(f"mknet.py: too many nodes for {levels} levels of switches "
                 f"with {args.radix} ports")
    # Where one more host wants one more leaf there are nodes left over.
    top += args.nodes - size(hosts)

    net = Net()
    leaf = [net.switch(f"leaf{i + 1:03}") for i in range(leaves)]
    for number in range(hosts):
        net.host(leaf[number * leaves // hosts])
    upper = leaf
    if middle:
        upper = []
        for pod in range(pods):
            lower = leaf[pod * leaves // pods:(pod + 1) * leaves // pods]
            here = [net.switch(f"pod{pod + 1:02}-{i + 1:02}")
                    for i in range(middle)]
            net.spread(lower, half, here)
            upper += here
    if top:
        name = "core" if middle else "spine"
        net.spread(upper, half,
                   [net.switch(f"{name}{i + 1:03}") for i in range(top)])
    return net


def torus_sides(switches, dims):
    """Sides of a torus with at most so many switches, as cubic as can be."""
    sides = []
    for left in range(dims, 0, -1):
        sides.append(max(1, int(switches ** (1 / left) + 1e-9)))
        switches //= sides[-1]
    return sides


def torus(args):
    """Switches in a grid whose ends meet, hosts on each."""
    for per_switch in itertools.count(args.hosts):
        sides = torus_sides(max(1, args.nodes // (1 + per_switch)), args.dims)
        if sum(side // 2 for side in sides) < MAX_SWITCHES_OF_PATH:
            break

    def name(place):
        return "sw-" + "-".join(f"{n + 1:02}" for n in place)

    net = Net()
    grid = list(itertools.product(*map(range, sides)))
    for place in grid:
        net.switch(name(place))
    for place, axis in itertools.product(grid, range(len(sides))):
        after = list(place)
        after[axis] = (place[axis] + 1) % sides[axis]
        # Two in a row have one link, not two.
        if sides[axis] > 2 or place[axis] < after[axis]:
            net.link(name(place), name(after))
    hosts = args.nodes - len(grid)
    for number in range(hosts):
        net.host(name(grid[number * len(grid) // hosts]))
    return net


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    tree = kinds.add_parser("fattree", help="two or three levels of switches")
    tree.add_argument("--levels", type=int, choices=(2, 3),
                      help="of switches (2 if that is enough)")
    tree.add_argument("--radix", type=int, default=36,
                      help="ports of a switch (36)")
    grid = kinds.add_parser("torus", help="a ring of switches in 2 or 3 "
                                          "directions")
    grid.add_argument("--dims", type=int, choices=(2, 3), default=3)
    grid.add_argument("--hosts", type=int, default=4,
                      help="of each switch (4), more if paths get too long")
    for kind in tree, grid:
        kind.add_argument("--nodes", type=int, required=True,
                          help="switches and hosts, 2 to 5000")
    args = parser.parse_args()
    if not 2 <= args.nodes <= 5000:
        parser.error("--nodes is 2 to 5000")
    if args.kind == "fattree" and not 4 <= args.radix <= MAX_PORTS:
        parser.error(f"--radix is 4 to {MAX_PORTS}")
    if args.kind == "torus" and args.hosts < 1:
        parser.error("--hosts is 1 or more")
    return args


def main():
    """See the head of this file."""
    args = options()
    net = fat_tree(args) if args.kind == "fattree" else torus(args)
    net.write(sys.stdout, args.radix if args.kind == "fattree" else 0)


if __name__ == "__main__":
    main()
