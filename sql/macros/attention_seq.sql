-- The mean sequence length in whole tokens, from the column that the CSV has; null when unknown (blank or negative).
create or replace temp macro attention_seq(runtime_mean, bare_mean, column_names) as
    case when if(list_contains(column_names, 'Runtime avg_seq_len'), runtime_mean, bare_mean) >= 0
         then trunc(if(list_contains(column_names, 'Runtime avg_seq_len'), runtime_mean, bare_mean)) end
