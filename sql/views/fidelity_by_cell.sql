-- Figures of recorded runs by the width of the cell that answered: without it, figures of two tables cannot be compared.
-- example: How much better are answers from narrow cells than from wide ones?
create or replace view fidelity_by_cell as
with widths as (
    select *, case when cell_ratio <= 1.1 then 1.1 when cell_ratio <= 1.25 then 1.25 when cell_ratio <= 1.5 then 1.5 when cell_ratio <= 2 then 2
        when cell_ratio <= 4 then 4 else 'infinity'::double end as cell_ratio_to
    from fidelity_probe where answered and cell_ratio is not null
)
select run_id, version_key, kernel_type, region, cell_ratio_to, count(*) as n_answered, median(ratio) as med,
    count(*) filter (within_bar) as n_within, avg(within_bar::integer) as within_rate, quantile_cont(rel_err, 0.9) as rel_err_p90
from widths
group by run_id, version_key, kernel_type, region, cell_ratio_to
order by run_id, kernel_type, region, cell_ratio_to;
comment on view fidelity_by_cell is 'One row per run, kernel, region and bucket of cell_ratio [source: fidelity_probe]';
comment on column fidelity_by_cell.run_id is 'Recorded run [fidelity_run.run_id]';
comment on column fidelity_by_cell.version_key is 'Version that was asked [profile_version.version_key]';
comment on column fidelity_by_cell.kernel_type is 'Kernel [regime.kernel_type]';
comment on column fidelity_by_cell.region is 'Region [text]';
comment on column fidelity_by_cell.cell_ratio_to is 'Largest ratio of the ends of the cell in the bucket: 1.1, 1.25, 1.5, 2, 4 or infinity [ratio]';
comment on column fidelity_by_cell.n_answered is 'Answers in the bucket [count]';
comment on column fidelity_by_cell.med is 'Median of answer over truth [ratio]';
comment on column fidelity_by_cell.n_within is 'Answers within the bar [count]';
comment on column fidelity_by_cell.within_rate is 'n_within over n_answered [fraction]';
comment on column fidelity_by_cell.rel_err_p90 is '90th percentile of the relative errors [fraction]';
