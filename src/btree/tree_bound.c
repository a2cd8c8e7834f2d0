/* SPDX-License-Identifier: MIT */
/* The order of entries, and where one block ends and the next begins. */
#include "btree/tree_bound.h"

#include "base/bytes.h"

int tree_key_compare(tree_key a, tree_key b)
{
    return bytes_compare(a.data, a.size_bytes, b.data, b.size_bytes, 0);
}

int tree_place_compare(tree_place a, tree_place b)
{
    if (a.part != b.part)
        return a.part < b.part ? -1 : 1;
    return (a.offset > b.offset) - (a.offset < b.offset);
}

int tree_bound_compare(const tree_bound *a, const tree_bound *b)
{
    int order = tree_key_compare(a->key, b->key);
    return order != 0 ? order : tree_place_compare(a->place, b->place);
}

int tree_joined_compare(tree_key base, size_t shared, tree_key rest,
                        tree_key key)
{
    size_t n = shared < key.size_bytes ? shared : key.size_bytes;
    int order = n > 0 ? memcmp(base.data, key.data, n) : 0;
    if (order != 0)
        return order;
    if (key.size_bytes < shared)
        return 1;
    tree_key left = {key.data + n, key.size_bytes - n};
    return tree_key_compare(rest, left);
}

size_t tree_key_shared(tree_key a, tree_key b)
{
    size_t most = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    size_t n = 0;
    while (n + 8 <= most && memcmp(a.data + n, b.data + n, 8) == 0)
        n += 8;
    while (n < most && a.data[n] == b.data[n])
        n++;
    return n;
}

tree_bound tree_bound_between(const tree_bound *last, const tree_bound *next,
                              size_t shared)
{
    if (shared == next->key.size_bytes &&
        last->key.size_bytes == next->key.size_bytes)
        return *next;
    return (tree_bound){{next->key.data, shared + 1}, {0, 0}};
}
