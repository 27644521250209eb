-- What stays equal in a batch of requests while its tokens grow: by longer queries, or by more requests of the same kind.
-- source: profiling RFC phase 2, sections 4.3.1 and 4.3.2; each form and the tokens together determine every request
create or replace temp macro request_groupings(runs) as [
    to_json({'grows_by': 'query_length', 'requests': list_transform(runs, lambda run:
        {'query_share': run[1] // greatest(list_reduce(list_transform(runs, lambda r: r[1]), lambda a, b: gcd(a, b)), 1),
         'earlier_tokens': run[2] - run[1], 'count': run[3]})}),
    to_json({'grows_by': 'request_count', 'requests': list_transform(runs, lambda run:
        {'query_tokens': run[1], 'kv_tokens': run[2],
         'share': run[3] // list_reduce(list_transform(runs, lambda r: r[3]), lambda a, b: gcd(a, b))})})]
