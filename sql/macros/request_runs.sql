-- The kinds of requests in a batch, ascending: [query tokens, KV tokens, number of requests like that].
create or replace temp macro request_runs(pairs) as
    list_transform(list_sort(list_distinct(pairs)), lambda pair:
        [pair[1], pair[2], len(list_filter(pairs, lambda other: other = pair))])
