-- The requests of a batch as [query tokens, KV tokens], from cumulative query offsets and KV lengths.
create or replace temp macro request_pairs(query_offsets, kv_lengths) as
    list_transform(kv_lengths, lambda kv, place: [query_offsets[place] - coalesce(query_offsets[place - 1], 0), kv])
