-- What is wrong with a batch, or null: offsets must ascend to all query tokens, and active requests must have KV tokens.
create or replace temp macro request_problem(query_offsets, kv_lengths, tokens) as
    case when len(query_offsets) <> len(kv_lengths) or query_offsets <> list_sort(query_offsets) or query_offsets[-1] <> tokens
         then 'runtime_query_offsets_invalid'
         when list_bool_or(list_transform(kv_lengths, lambda kv, place:
             kv < 1 and query_offsets[place] > coalesce(query_offsets[place - 1], 0)))
         then 'runtime_workload_unextractable' end
