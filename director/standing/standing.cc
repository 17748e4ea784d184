#include "director/standing/standing.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/content/byte_codec.h"
#include "galley/v1/standing.pb.h"

namespace galley::director {
namespace {

constexpr std::string_view kStandingMagic = "GLYSTAN1";

void PutFacts(const Facts& facts, auto* out) {
  for (const Fact& fact : facts) {
    v1::Standing::Fact& one = *out->Add();
    one.set_name(fact.name);
    one.set_value(fact.value);
  }
}

Facts FactsOf(const auto& in) {
  Facts facts;
  for (const v1::Standing::Fact& one : in) facts.push_back({one.name(), one.value()});
  return facts;
}

void PutStat(const FileStat& stat, v1::Standing::Stat& out) {
  out.set_size_bytes(stat.size_bytes);
  out.set_mtime_ns(stat.mtime_ns);
  out.set_ctime_ns(stat.ctime_ns);
  out.set_inode(stat.inode);
  out.set_device(stat.device);
  out.set_mode(stat.mode);
}

FileStat StatOf(const v1::Standing::Stat& in) {
  return {.size_bytes = in.size_bytes(),
          .mtime_ns = in.mtime_ns(),
          .ctime_ns = in.ctime_ns(),
          .inode = in.inode(),
          .device = in.device(),
          .mode = in.mode()};
}

}  // namespace

std::string DifferingFact(const Facts& before, const Facts& now) {
  for (size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
    if (i == before.size()) return now[i].name;
    if (i == now.size()) return before[i].name;
    if (before[i] != now[i]) return std::min(before[i].name, now[i].name);
  }
  return "";
}

std::string EncodeStanding(const Standing& standing) {
  v1::Standing out;
  out.set_ask(standing.ask);
  PutFacts(standing.facts, out.mutable_facts());
  for (const StandingRule& rule : standing.rules) {
    v1::Standing::Rule& one = *out.add_rules();
    one.set_match(rule.match);
    one.set_ignore_case(rule.ignore_case);
    one.set_digest(rule.digest.ToString());
  }
  PutFacts(standing.environment, out.mutable_environment());
  for (const StandingTool& tool : standing.tools) {
    v1::Standing::Tool& one = *out.add_tools();
    one.set_path(tool.path);
    one.set_value(tool.value);
    PutStat(tool.stat, *one.mutable_stat());
    one.set_is_racy(tool.is_racy);
  }
  out.set_generation(standing.generation);
  out.set_source_stamps(standing.source_stamps);
  for (const StandingPlatform& platform : standing.platforms) {
    v1::Standing::Platform& one = *out.add_platforms();
    one.set_name(platform.name);
    one.set_root(platform.root.ToString());
    one.set_sequence(platform.sequence);
    one.set_sandbox_stamps(platform.sandbox_stamps);
  }
  out.set_store_id(standing.store_id);
  out.set_loss_epoch(standing.loss_epoch);
  out.set_store_commits(standing.store_commits);
  for (const StandingWarning& warning : standing.warnings) {
    v1::Standing::Warning& one = *out.add_warnings();
    one.set_package(warning.package);
    one.set_platform(warning.platform);
    one.set_text(warning.text);
    one.set_is_of_scan(warning.is_of_scan);
  }
  for (const StandingFailure& failure : standing.failures) {
    v1::Standing::Failure& one = *out.add_failures();
    one.set_package(failure.package);
    one.set_platform(failure.platform);
    one.set_stage(failure.stage);
    one.set_cause(failure.cause);
    one.set_error(failure.error);
    one.set_log(failure.log);
  }
  v1::Standing::Counts& counts = *out.mutable_counts();
  counts.set_files(standing.counts.files);
  counts.set_packages(standing.counts.packages);
  counts.set_unmatched(standing.counts.unmatched);
  counts.set_in_cook(standing.counts.in_cook);
  counts.set_failed(standing.counts.failed);
  counts.set_skipped(standing.counts.skipped);
  counts.set_results(standing.counts.results);
  counts.set_results_failed(standing.counts.results_failed);
  out.set_snapshot(standing.snapshot.ToString());
  out.set_members(standing.members);
  out.set_base_table(standing.base_table);
  for (const std::string& file : standing.touched) out.add_touched(file);
  out.set_has_more_touched(standing.has_more_touched);
  v1::Standing::Git& git = *out.mutable_git();
  for (const GitState::Repository& repository : standing.git.repositories) {
    v1::Standing::Git::Repository& one = *git.add_repositories();
    one.set_top(repository.top);
    one.set_commit(repository.commit);
    one.set_rules(repository.rules);
  }
  for (const std::string& path : standing.git.dirty) git.add_dirty(path);
  git.set_why_unknown(standing.git.why_unknown);
  return content::Seal(kStandingMagic, out.SerializeAsString());
}

absl::StatusOr<Standing> DecodeStanding(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::string_view payload, content::Unseal(kStandingMagic, bytes));
  v1::Standing in;
  if (!in.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return absl::InvalidArgumentError("it is no standing");
  Standing standing{.ask = in.ask(),
                    .facts = FactsOf(in.facts()),
                    .environment = FactsOf(in.environment()),
                    .generation = in.generation(),
                    .source_stamps = in.source_stamps(),
                    .store_id = in.store_id(),
                    .loss_epoch = in.loss_epoch(),
                    .store_commits = in.store_commits()};
  for (const v1::Standing::Rule& one : in.rules()) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(one.digest()));
    standing.rules.push_back({one.match(), one.ignore_case(), digest});
  }
  for (const v1::Standing::Tool& one : in.tools())
    standing.tools.push_back({one.path(), one.value(), StatOf(one.stat()), one.is_racy()});
  for (const v1::Standing::Platform& one : in.platforms()) {
    ASSIGN_OR_RETURN(const Digest root, Digest::Parse(one.root()));
    standing.platforms.push_back({one.name(), root, one.sequence(), one.sandbox_stamps()});
  }
  for (const v1::Standing::Warning& one : in.warnings())
    standing.warnings.push_back({one.package(), one.platform(), one.text(), one.is_of_scan()});
  for (const v1::Standing::Failure& one : in.failures()) {
    standing.failures.push_back(
        {one.package(), one.platform(), one.stage(), one.cause(), one.error(), one.log()});
  }
  const v1::Standing::Counts& counts = in.counts();
  standing.counts = {.files = counts.files(),
                     .packages = counts.packages(),
                     .unmatched = counts.unmatched(),
                     .in_cook = counts.in_cook(),
                     .failed = counts.failed(),
                     .skipped = counts.skipped(),
                     .results = counts.results(),
                     .results_failed = counts.results_failed()};
  ASSIGN_OR_RETURN(standing.snapshot, Digest::Parse(in.snapshot()));
  standing.members = in.members();
  standing.base_table = in.base_table();
  standing.touched = {in.touched().begin(), in.touched().end()};
  standing.has_more_touched = in.has_more_touched();
  for (const v1::Standing::Git::Repository& one : in.git().repositories())
    standing.git.repositories.push_back({one.top(), one.commit(), one.rules()});
  standing.git.dirty = {in.git().dirty().begin(), in.git().dirty().end()};
  standing.git.why_unknown = in.git().why_unknown();
  return standing;
}

}  // namespace galley::director
