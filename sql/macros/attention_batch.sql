-- The number of requests: as recorded, of a 4-D query, or the count of lengths that account for every query token.
create or replace temp macro attention_batch(recorded, shape, tokens, length_count, lengths) as
    case when recorded > 0 then recorded
         when len(shape) = 4 and shape[3] = 1 then shape[1]
         when len(length_count) = 1 and length_count[1] = len(lengths)
             and (list_sum(lengths) = tokens or (lengths[-1] = tokens and list_sort(lengths) = lengths)) then len(lengths) end
