-- The phase of a batch of [query tokens, KV tokens]: prefill without earlier tokens, decode of one token each, or mixed.
create or replace temp macro request_phase(pairs) as
    case when list_bool_and(list_transform(pairs, lambda pair: pair[1] = pair[2])) then 'prefill'
         when list_bool_and(list_transform(pairs, lambda pair: pair[1] = 1)) then 'decode' else 'mixed' end
