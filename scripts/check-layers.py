#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Calls and includes of a module go downward, and never in a circle.

check-layers.py FOLDER...: FOLDER/layers.txt has the layers, the highest first, each a
line "NAME: FILE...", files without their ".c" and ".h", those of a subdirectory with its
name. A header that is in another layer than its source file, because a structure of it
is embedded there, is named with its ".h". Says nothing if all is well.
"""

import os
import re
import sys

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# At the beginning of a line, as kernel style has it.
FUNCTION = re.compile(r'^(?!static\b|typedef\b|extern\b)[a-z][\w \t*]*?\b(\w+)'
                      r'\((?:[^;{}]*)\)\n\{', re.M)
VARIABLE = re.compile(r'^(?!static\b|typedef\b|extern\b)(?:const )?(?:struct )?\w+ '
                      r'\*?(\w+)(?:\[\w*\])? = ', re.M)


def read(folder, parts=("",)):
    """Text of each file of these subdirectories, by its name with extension."""
    texts = {}
    for part in sorted(parts):
        for name in sorted(os.listdir(os.path.join(folder, part))):
            if name.endswith((".c", ".h")) and not name.endswith(".mod.c"):
                with open(os.path.join(folder, part, name), encoding="utf-8") as file:
                    texts[os.path.join(part, name)] = file.read()
    return texts


def header_of(name, header, texts):
    """The file that an include means, or None."""
    beside = os.path.join(os.path.dirname(name), header)
    return beside if beside in texts else header if header in texts else None


def read_layers(path):
    """Number of the layer, from the highest, of each name; names of the layers."""
    layer_of, names = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if not line:
                continue
            name, files = line.split(":")
            for entry in files.split():
                layer_of[entry] = len(names)
            names.append(name)
    return layer_of, names


def edges_of(texts):
    """(from, to, why) for each include, and for each symbol of another file's."""
    owner = {}
    edges = set()
    for name, text in texts.items():
        if name.endswith(".c"):
            for symbol in FUNCTION.findall(text) + VARIABLE.findall(text):
                owner[symbol] = name
    for name, text in texts.items():
        edges.update((name, header_of(name, header, texts), "includes it")
                     for header in INCLUDE.findall(text)
                     if header_of(name, header, texts))
        for word in set(re.findall(r"\w+", COMMENT.sub(" ", text))):
            if name.endswith(".c") and owner.get(word, name) != name:
                edges.add((name, owner[word], word))
    return edges


def circles(edges):
    """One circle of names, or None."""
    after = {}
    for start, end, _ in edges:
        after.setdefault(start, set()).add(end)
    done, path = set(), []

    def walk(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        path.append(name)
        for other in sorted(after.get(name, ())):
            found = walk(other)
            if found:
                return found
        path.pop()
        done.add(name)
        return None

    for name in sorted(after):
        found = walk(name)
        if found:
            return found
    return None


def check(folder):
    """Print what is wrong with a folder, one line each."""
    layer_of, names = read_layers(os.path.join(folder, "layers.txt"))
    texts = read(folder, {""} | {os.path.dirname(entry) for entry in layer_of})
    wrong = []

    def layer(name):
        return layer_of.get(name, layer_of.get(os.path.splitext(name)[0]))

    wrong += [f"{name} is in no layer" for name in texts if layer(name) is None]
    wrong += [f"layers.txt has {entry}, which is no file" for entry in layer_of
              if entry not in texts and entry + ".c" not in texts and
              entry + ".h" not in texts]
    if not wrong:
        edges = edges_of(texts)
        wrong = [f"{start} ({names[layer(start)]}) uses {end} "
                 f"({names[layer(end)]}): {why}"
                 for start, end, why in sorted(edges)
                 if layer(end) < layer(start)]
        # A header is its source file's: circles are looked for among both.
        for kind in (".c", ".h"):
            found = circles([edge for edge in edges if edge[0].endswith(kind) and
                             edge[1].endswith(kind)])
            if found:
                wrong.append("in a circle: " + " -> ".join(found))
    for line in wrong:
        print(f"{folder}: {line}")


for argument in sys.argv[1:]:
    check(argument)
