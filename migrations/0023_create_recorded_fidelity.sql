-- Fidelity runs that were kept, and the errors that answers are told with.
create table recorded_run (
    run_id varchar not null,
    recorded_at timestamp not null,
    version_key varchar not null,
    truth_kind varchar not null,
    truth_ref varchar,
    scheme varchar,
    params_json varchar not null,
    policy_hash varchar not null,
    bar double not null,
    engine varchar not null,
    truth_quality varchar not null,
    schema_version integer not null,
    code_rev varchar not null
);
comment on table recorded_run is 'Hold-out and fidelity runs that were kept, one row each [source: sqlinterp fidelity --record]';
comment on column recorded_run.run_id is 'Digest of request, policy and data; the same run has the same one [hex]';
comment on column recorded_run.recorded_at is 'When it was written here [UTC]';
comment on column recorded_run.version_key is 'Version that was asked [profile_version.version_key]';
comment on column recorded_run.truth_kind is 'Where the truth came from: holdout, version, table or command [text]';
comment on column recorded_run.truth_ref is 'Other version, path of the table, or command line; null for holdout [text]';
comment on column recorded_run.scheme is 'Hold-out scheme, null for other truths [text]';
comment on column recorded_run.params_json is 'Everything else that was asked for [canonical JSON]';
comment on column recorded_run.policy_hash is 'SHA-256 over the policies that answered [hex]';
comment on column recorded_run.bar is 'An answer is good within a factor of 1 + bar, up or down [ratio]';
comment on column recorded_run.engine is 'lookup, or screen for the window query of fidelity_screen [text]';
comment on column recorded_run.truth_quality is 'truth, or drift or mixed when the drift gate failed for all or some groups [text]';
comment on column recorded_run.schema_version is 'Number of the last schema migration of the file [integer]';
comment on column recorded_run.code_rev is 'sqlinterp that ran [text]';

create table recorded_probe (
    run_id varchar not null,
    probe_id integer not null,
    group_id varchar not null,
    version_key varchar not null,
    device varchar not null,
    kernel_type varchar not null,
    path varchar not null,
    regime_json varchar not null,
    region varchar not null,
    scheme varchar not null,
    axis_names varchar[] not null,
    x double[] not null,
    holdout_id varchar,
    truth_us double,
    pred_us double,
    cmp_us double,
    source varchar not null,
    coverage integer not null,
    confidence double,
    method varchar,
    dims integer,
    n_candidates bigint,
    cell_ratio double,
    spread double,
    nearest_us double,
    noise_floor double not null,
    jump double,
    reason varchar,
    failure_hint varchar
);
comment on table recorded_probe is 'Probes of recorded runs: what was asked, what was true, what was answered [source: sqlinterp fidelity --record]';
comment on column recorded_probe.run_id is 'Recorded run [recorded_run.run_id]';
comment on column recorded_probe.probe_id is 'Number of the probe in its run, 0 first [integer]';
comment on column recorded_probe.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column recorded_probe.version_key is 'Version that was asked [profile_version.version_key]';
comment on column recorded_probe.device is 'First part of the version key [text]';
comment on column recorded_probe.kernel_type is 'Kernel [regime.kernel_type]';
comment on column recorded_probe.path is 'Lookup path [regime.path]';
comment on column recorded_probe.regime_json is 'Discrete fields of the regime [canonical JSON]';
comment on column recorded_probe.region is 'What the error is told under: axis0, diag, loo, extrap0_x2, edge, boundary, small, on_grid ... [text]';
comment on column recorded_probe.scheme is 'Hold-out scheme, or how else the probe came about [text]';
comment on column recorded_probe.axis_names is 'Names of the axes [list of text]';
comment on column recorded_probe.x is 'Coordinate along axis_names [axis unit]';
comment on column recorded_probe.holdout_id is 'What was held out, null when nothing was [text]';
comment on column recorded_probe.truth_us is 'Measured latency, null when nobody knows [us]';
comment on column recorded_probe.pred_us is 'Answer, null for a miss [us]';
comment on column recorded_probe.cmp_us is 'Answer of the run that this one was compared with, null without comparison or for a miss [us]';
comment on column recorded_probe.source is 'MEASURED, INTERPOLATED, EXTRAPOLATED, PARTIAL or MISS [text]';
comment on column recorded_probe.coverage is 'Coverage bits of the answer [bits]';
comment on column recorded_probe.confidence is 'Confidence label of the answer before calibration, null for a miss [label]';
comment on column recorded_probe.method is 'How the answer was interpolated [text]';
comment on column recorded_probe.dims is 'Axes that varied [count]';
comment on column recorded_probe.n_candidates is 'Points that the answer was chosen from [count]';
comment on column recorded_probe.cell_ratio is 'Upper over lower end of the cell along its widest used axis [ratio]';
comment on column recorded_probe.spread is 'Largest over smallest of the one-dimensional estimates of the answer, less 1; null when there are fewer than two [fraction]';
comment on column recorded_probe.nearest_us is 'Latency of the used point nearest to the target [us]';
comment on column recorded_probe.noise_floor is 'Factor up to which repeated measurements differ anyway [ratio]';
comment on column recorded_probe.jump is 'Latency above a step over latency below it, for members of boundary pairs [ratio]';
comment on column recorded_probe.reason is 'Why there was no answer, or no truth [identifier]';
comment on column recorded_probe.failure_hint is 'What the failure of this probe looks like, null within the bar [text]';

create table recorded_region (
    run_id varchar not null,
    kernel_type varchar not null,
    region varchar not null,
    n_probe bigint not null,
    n_truth bigint not null,
    n_answered bigint not null,
    n_within bigint not null,
    n_optimistic bigint not null,
    n_within_noise bigint not null,
    answer_rate double,
    within_rate double,
    within_of_truth double,
    med double,
    geomean double,
    p10 double,
    p90 double,
    mape double,
    worst double,
    worst_probe_id integer,
    verdict varchar not null,
    failure_class varchar
);
comment on table recorded_region is 'Figures of recorded runs by kernel and region [source: sqlinterp fidelity --record]';
comment on column recorded_region.run_id is 'Recorded run [recorded_run.run_id]';
comment on column recorded_region.kernel_type is 'Kernel, ALL for all of the run [text]';
comment on column recorded_region.region is 'Region, ALL for all of the kernel [text]';
comment on column recorded_region.n_probe is 'Probes [count]';
comment on column recorded_region.n_truth is 'Probes whose truth is known [count]';
comment on column recorded_region.n_answered is 'Probes with a truth that were answered [count]';
comment on column recorded_region.n_within is 'Answered probes within the bar [count]';
comment on column recorded_region.n_optimistic is 'Answered probes with a ratio below 1 [count]';
comment on column recorded_region.n_within_noise is 'Answered probes within the noise floor of their truth [count]';
comment on column recorded_region.answer_rate is 'n_answered over n_truth [fraction]';
comment on column recorded_region.within_rate is 'n_within over n_answered [fraction]';
comment on column recorded_region.within_of_truth is 'n_within over n_truth [fraction]';
comment on column recorded_region.med is 'Median of answer over truth [ratio]';
comment on column recorded_region.geomean is 'Geometric mean of the positive ratios [ratio]';
comment on column recorded_region.p10 is '10th percentile of the ratios [ratio]';
comment on column recorded_region.p90 is '90th percentile of the ratios [ratio]';
comment on column recorded_region.mape is 'Mean of the absolute relative errors [fraction]';
comment on column recorded_region.worst is 'Ratio furthest from 1 by its logarithm, 0 for an answer that is not positive [ratio]';
comment on column recorded_region.worst_probe_id is 'The probe with that ratio [recorded_probe.probe_id]';
comment on column recorded_region.verdict is 'pass, fail, insufficient or not_evaluable [text]';
comment on column recorded_region.failure_class is 'Why the verdict is fail, null otherwise [text]';

create table recorded_group (
    run_id varchar not null,
    group_id varchar not null,
    kernel_type varchar not null,
    regime_json varchar not null,
    n_probe bigint not null,
    n_truth bigint not null,
    n_answered bigint not null,
    n_within bigint not null,
    n_optimistic bigint not null,
    n_within_noise bigint not null,
    answer_rate double,
    within_rate double,
    within_of_truth double,
    med double,
    geomean double,
    p10 double,
    p90 double,
    mape double,
    worst double,
    worst_probe_id integer,
    verdict varchar not null,
    failure_class varchar
);
comment on table recorded_group is 'Figures of recorded runs by kernel and regime [source: sqlinterp fidelity --record]';
comment on column recorded_group.run_id is 'Recorded run [recorded_run.run_id]';
comment on column recorded_group.group_id is 'Kernel and regime [regime_group.group_id]';
comment on column recorded_group.kernel_type is 'Kernel [text]';
comment on column recorded_group.regime_json is 'Discrete fields of the regime [canonical JSON]';
comment on column recorded_group.n_probe is 'Probes [count]';
comment on column recorded_group.n_truth is 'Probes whose truth is known [count]';
comment on column recorded_group.n_answered is 'Probes with a truth that were answered [count]';
comment on column recorded_group.n_within is 'Answered probes within the bar [count]';
comment on column recorded_group.n_optimistic is 'Answered probes with a ratio below 1 [count]';
comment on column recorded_group.n_within_noise is 'Answered probes within the noise floor of their truth [count]';
comment on column recorded_group.answer_rate is 'n_answered over n_truth [fraction]';
comment on column recorded_group.within_rate is 'n_within over n_answered [fraction]';
comment on column recorded_group.within_of_truth is 'n_within over n_truth [fraction]';
comment on column recorded_group.med is 'Median of answer over truth [ratio]';
comment on column recorded_group.geomean is 'Geometric mean of the positive ratios [ratio]';
comment on column recorded_group.p10 is '10th percentile of the ratios [ratio]';
comment on column recorded_group.p90 is '90th percentile of the ratios [ratio]';
comment on column recorded_group.mape is 'Mean of the absolute relative errors [fraction]';
comment on column recorded_group.worst is 'Ratio furthest from 1 by its logarithm, 0 for an answer that is not positive [ratio]';
comment on column recorded_group.worst_probe_id is 'The probe with that ratio [recorded_probe.probe_id]';
comment on column recorded_group.verdict is 'pass, fail, insufficient or not_evaluable [text]';
comment on column recorded_group.failure_class is 'Why the verdict is fail, null otherwise [text]';

create table error_quantile (
    version_id integer not null,
    kernel_type varchar not null,
    path varchar not null,
    spread_low double,
    spread_high double,
    width_low double not null,
    width_high double not null,
    n bigint not null,
    q50 double not null,
    q90 double not null,
    q95 double not null
);
comment on table error_quantile is 'How far answers were from held-out measurements, by how far their estimates lay apart and how wide their cell was; rows only where n >= 20 [source: sqlinterp fidelity calibrate]';
comment on column error_quantile.version_id is 'Version [profile_version.version_id]';
comment on column error_quantile.kernel_type is 'Kernel [text]';
comment on column error_quantile.path is 'Lookup path [regime.path]';
comment on column error_quantile.spread_low is 'Least spread of the bucket; null for answers with fewer than two estimates [fraction]';
comment on column error_quantile.spread_high is 'The spread of the bucket is below this, infinity for the last one; null as spread_low [fraction]';
comment on column error_quantile.width_low is 'Least ratio of the ends of the cell in the bucket [ratio]';
comment on column error_quantile.width_high is 'The ratio is below this, infinity for the last bucket [ratio]';
comment on column error_quantile.n is 'Held-out answers in the bucket [count]';
comment on column error_quantile.q50 is 'Median of |ln(answer / truth)| [ln ratio]';
comment on column error_quantile.q90 is '90th percentile of |ln(answer / truth)| [ln ratio]';
comment on column error_quantile.q95 is '95th percentile of |ln(answer / truth)| [ln ratio]';

create table policy_with_confidence (
    version_id integer not null,
    scope varchar not null check (scope in ('global', 'kernel', 'operator', 'latency', 'selection', 'confidence')),
    subject varchar not null,
    policy_json varchar not null
);
insert into policy_with_confidence select version_id, scope, subject, policy_json from interpolation_policy;
drop table interpolation_policy;
alter table policy_with_confidence rename to interpolation_policy;
comment on table interpolation_policy is 'Interpolation, latency and selection policies [source: op_mapping.yaml], and what confidence labels came to in hold-outs [source: sqlinterp fidelity calibrate]';
comment on column interpolation_policy.version_id is 'Version of the mapping [profile_version.version_id]';
comment on column interpolation_policy.scope is 'global, kernel or operator (interpolation_policy); latency, selection (kernel overrides of latency_policy, query_selection_policy); confidence (calibrated labels) [text]';
comment on column interpolation_policy.subject is 'Kernel or operator concerned, * for global [text]';
comment on column interpolation_policy.policy_json is 'The policy fields [JSON object]';
