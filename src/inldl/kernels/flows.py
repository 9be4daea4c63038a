"""Numbers on the edges of a graph whose sums at each node are known: flows.

A graph is a tuple: where the edges of each node begin in the next array, the edges of nodes, and
the tail and the head of each edge. What leaves a node less what enters it is its supply, so that
a flow changes along cycles only. `room` is of shape (2, n_edges): how far each number can rise,
and how far it can fall.
"""

import numpy as np

from inldl.kernels.compile import exact_kernel

NEAR = 1e-7  # a whole number: what computing may leave of one


@exact_kernel
def _path(graph, room, source, lacks, avoided, work) -> int:
    """Find a path along which a flow can change to a node that `lacks` something; -1 if none.

    Goes ahead before it goes back; where an edge is `avoided`, it first looks at all nodes that
    are next. `work` holds for each node by which edge and when it was reached, how many of its
    edges were tried, and with which to begin; and the nodes of the path.
    """
    first, incident, tail, head = graph
    via, seen, tried, begin, stack = work
    seen[-1] += 1
    now, top, times = seen[-1], 0, 1 if avoided < 0 else 2
    seen[source], tried[source], stack[0] = now, 0, source
    while top >= 0:
        node = stack[top]
        degree, other = first[node + 1] - first[node], -1
        while tried[node] < times * degree:
            looking = tried[node] < (times - 1) * degree
            edge = incident[first[node] + (begin[node] + tried[node]) % degree]
            tried[node] += 1
            forward = tail[edge] == node
            other = head[edge] if forward else tail[edge]
            wanted = not looking or lacks[other] > NEAR
            wanted = wanted and seen[other] != now and edge != avoided
            if wanted and room[0 if forward else 1, edge] > NEAR:
                seen[other], tried[other], via[other] = now, 0, edge
                break
            other = -1
        if other >= 0 and lacks[other] > NEAR:
            for k in range(top + 1):
                node = stack[k]
                degree = first[node + 1] - first[node]
                begin[node] = (begin[node] + tried[node] - 1) % degree
            return other
        top += 1 if other >= 0 else -1
        if other >= 0:
            stack[top] = other
    return -1


@exact_kernel
def _push(graph, room, ends, most, via, moved, changed) -> float:
    """Change a flow along a path by as much as there is room for, at most by `most`.

    `changed` lists the edges that have `moved` from 0; its last entry is how many these are.
    """
    _, _, tail, head = graph
    source, node = ends
    amount = most
    while node != source:
        edge = via[node]
        forward = head[edge] == node
        amount = min(amount, room[0 if forward else 1, edge])
        node = tail[edge] if forward else head[edge]
    node = ends[1]
    while node != source:
        edge = via[node]
        forward = head[edge] == node
        change = amount if forward else -amount
        room[0, edge] -= change
        room[1, edge] += change
        if moved[edge] == 0 and changed[-1] < len(moved):
            changed[changed[-1]] = edge
            changed[-1] += 1
        moved[edge] += change
        node = tail[edge] if forward else head[edge]
    return amount


@exact_kernel
def _undo(room, moved, changed) -> None:
    """Take back all changes of a flow; if the list is full, it does not tell which."""
    full = changed[-1] == len(moved)
    for k in range(len(moved) if full else changed[-1]):
        edge = k if full else changed[k]
        room[0, edge] += moved[edge]
        room[1, edge] -= moved[edge]
        moved[edge] = 0
    changed[-1] = 0


@exact_kernel
def settle_flow(graph, room, lacks) -> np.ndarray:
    """Change a flow, in place, such that no node lacks anything; some have too much at first.

    Returns nodes that cannot get rid of what they have too much of, together; none if all is well.
    """
    n, n_edges = len(graph[0]) - 1, len(graph[2])
    work, moved, changed = np.zeros((5, n + 1), np.int64), np.zeros(n_edges), np.zeros(1, np.int64)
    changed[0] = n_edges  # the changes are to stay
    for node in range(n):
        while lacks[node] < -NEAR:
            other = _path(graph, room, node, lacks, -1, work)
            if other < 0:
                return np.flatnonzero(work[1, :n] == work[1, n])
            most = min(-lacks[node], lacks[other])
            amount = _push(graph, room, (node, other), most, work[0], moved, changed)
            lacks[node] += amount
            lacks[other] -= amount
    return np.empty(0, np.int64)


@exact_kernel
def room_around(graph, room, edges) -> np.ndarray:
    """Return how far each of some edges can rise and fall if the others give way.

    It is a maximum flow between the ends of the edge, without the edge itself.
    """
    first, _, tail, head = graph
    n, out = len(first) - 1, np.zeros((2, len(edges)))
    work, lacks = np.zeros((5, n + 1), np.int64), np.zeros(n)
    moved, changed = np.zeros(len(tail)), np.zeros(len(tail) + 1, np.int64)
    for k in range(len(edges)):
        edge = edges[k]
        for side in range(2):
            ends = (head[edge], tail[edge]) if side == 0 else (tail[edge], head[edge])
            most, found = room[side, edge], 0.0
            lacks[ends[1]] = 1
            while most - found > NEAR and _path(graph, room, ends[0], lacks, edge, work) >= 0:
                found += _push(graph, room, ends, most - found, work[0], moved, changed)
            lacks[ends[1]], out[side, k] = 0, found
            _undo(room, moved, changed)
    return out


@exact_kernel
def bridges(graph, used, keys) -> np.ndarray:
    """Return which of the edges that are `used` lie on no cycle of such edges.

    Each edge outside of a spanning forest has a random key, and a node the sum of the keys of its
    edges, modulo 2^64 and with signs; below a bridge these sum to 0.
    """
    first, incident, tail, head = graph
    n = len(first) - 1
    by, order, sums = np.full(n, -1), np.empty(n, np.int64), np.zeros(n, np.uint64)
    out, in_tree = np.zeros(len(tail), np.bool_), np.zeros(len(tail), np.bool_)
    end = 0
    for root in range(n):
        if by[root] != -1:
            continue
        by[root], order[end] = -2, root
        begin, end = end, end + 1
        while begin < end:
            node = order[begin]
            begin += 1
            for k in range(first[node], first[node + 1]):
                edge = incident[k]
                other = head[edge] if tail[edge] == node else tail[edge]
                if used[edge] and by[other] == -1:
                    by[other], order[end], in_tree[edge] = edge, other, True
                    end += 1
    for edge in range(len(tail)):
        if used[edge] and not in_tree[edge]:
            sums[tail[edge]] += keys[edge]
            sums[head[edge]] -= keys[edge]
    for k in range(n - 1, -1, -1):
        node = order[k]
        edge = by[node]
        if edge >= 0:
            out[edge] = sums[node] == 0
            sums[head[edge] if tail[edge] == node else tail[edge]] += sums[node]
    return out


@exact_kernel
def _next_edge(graph, flow, node, arrived, at) -> int:
    """Return an edge of a node whose number is not whole, other than the one `arrived` by."""
    first, incident, _, _ = graph
    while at[node] < first[node + 1]:
        edge = incident[at[node]]
        if abs(flow[edge] - round(flow[edge])) > NEAR:
            break
        at[node] += 1
    for k in range(at[node], first[node + 1]):
        edge = incident[k]
        if edge != arrived and abs(flow[edge] - round(flow[edge])) > NEAR:
            return edge
    return -1


@exact_kernel
def _turn(graph, flow, cost, nodes, edges) -> None:
    """Change a flow along a cycle until one of its numbers is whole, such that it costs less."""
    _, _, tail, _ = graph
    slope, up, down = 0.0, np.inf, np.inf
    for k in range(len(edges)):
        edge = edges[k]
        below = flow[edge] - np.floor(flow[edge])
        if tail[edge] == nodes[k]:
            slope += cost[edge]
            up, down = min(up, 1 - below), min(down, below)
        else:
            slope -= cost[edge]
            up, down = min(up, below), min(down, 1 - below)
    change = up if slope < 0 else -down
    for k in range(len(edges)):
        edge = edges[k]
        new = flow[edge] + (change if tail[edge] == nodes[k] else -change)
        flow[edge] = round(new) if abs(new - round(new)) < NEAR else new


@exact_kernel
def round_flow(graph, flow) -> None:
    """Round the numbers of a flow up or down, in place, such that whole supplies are kept.

    As long as a number is not whole, it is on a cycle of such numbers, around which the flow
    changes until one of them is whole. Numbers near the next whole one tend to get there.
    """
    first, _, tail, head = graph
    n = len(first) - 1
    cost = 1 - 2 * (flow - np.floor(flow))
    at, place = first[:-1].copy(), np.full(n, -1)
    nodes, edges = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for start in range(n):
        length, node = 0, start
        place[start], nodes[0] = 0, start
        while True:
            arrived = edges[length - 1] if length else -1
            edge = _next_edge(graph, flow, node, arrived, at)
            if edge < 0 and length == 0:
                break
            if edge < 0:  # the only one that is left here is whole but for what computing leaves
                flow[arrived] = round(flow[arrived])
                place[node] = -1
                length -= 1
                node = nodes[length]
                continue
            edges[length] = edge
            node = head[edge] if tail[edge] == node else tail[edge]
            length += 1
            if place[node] >= 0:
                begin = place[node]
                _turn(graph, flow, cost, nodes[begin:length], edges[begin:length])
                for k in range(begin + 1, length):
                    place[nodes[k]] = -1
                length = begin
            else:
                place[node], nodes[length] = length, node
        place[start] = -1
