-- The query of attention as [tokens, heads, head dim]: (B, N, 1, D) is (B, N, D), (T, N*D) is split by the key's head dim.
create or replace temp macro attention_query(shape, head_dim) as
    case when len(shape) = 3 then shape
         when len(shape) = 4 and shape[3] = 1 then [shape[1], shape[2], shape[4]]
         when len(shape) = 2 and head_dim > 0 and shape[2] % head_dim = 0
             then [shape[1], shape[2] // head_dim, head_dim] end
