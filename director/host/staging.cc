#include "director/host/staging.h"

#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "director/host/outcome_status.h"
#include "director/host/package_of_path.h"
#include "director/host/packages_beside.h"
#include "director/host/stage_wait.h"
#include "director/shell/stage_path.h"
#include "director/stage/sandbox.h"
#include "director/stage/stage_lock.h"
#include "fmt/format.h"

namespace galley::director {

Staging::Staging(Options options, const Deps& deps)
    : options_(std::move(options)), deps_(deps), sandboxes_(deps.project, options_.rules) {}

absl::StatusOr<FileDescriptor> Staging::WaitForSandbox(const std::string& sandbox) {
  StageWait wait(sandbox);
  SystemClock clock;
  return LockSandbox(sandbox, [&] {
    if (deps_.stop.is_cancelled()) return false;
    if (const std::string line = wait.LineAt(clock.Monotonic()); !line.empty())
      deps_.notes.SayAlways(line);
    return true;
  });
}

absl::StatusOr<StageReport> Staging::StageOne(const std::string& platform, const Digest& root,
                                              StageOptions how) {
  how.directory = sandboxes_.PathOf(platform);
  how.root = root;
  how.umask = options_.umask;
  RETURN_IF_ERROR(MakeFolders(how.directory, options_.umask));
  ASSIGN_OR_RETURN(const FileDescriptor lock, WaitForSandbox(how.directory));
  RETURN_IF_ERROR(sandboxes_.Claim(platform, options_.project_id));
  if (!deps_.staged_worlds.Enter(how.directory, world_)) {
    deps_.notes.SayAlways(fmt::format(
        "{} is published and not staged: its sandbox has what another cook made of newer files",
        platform));
    return StageReport();
  }
  if (const auto roots = deps_.store.Roots(options_.project_id); roots.ok()) {
    for (const store::PublishedRoot& one : *roots) {
      if (one.platform == platform) how.earlier_roots.push_back(one.root);
    }
  }
  ASSIGN_OR_RETURN(StageReport staged, StageWhatDiffers(platform, how));
  deps_.notes.Say(fmt::format("staged {}: {} written ({}), {} removed, {} unchanged", platform,
                              staged.written, HumanBytes(staged.bytes_written), staged.removed,
                              staged.unchanged));
  if (staged.foreign_count > 0)
    deps_.notes.Tell(CookEvent::Warned{
        "", platform, {record::WarningKind::kForeignFiles, ForeignText(how.directory, staged)}});
  return staged;
}

absl::StatusOr<StageReport> Staging::StageWhatDiffers(const std::string& platform,
                                                      const StageOptions& how) {
  if (how.by_the_book && !how.exact && deps_.root_if_unchanged) {
    if (const std::optional<Digest> before = deps_.root_if_unchanged(platform)) {
      ASSIGN_OR_RETURN(const std::optional<StageReport> staged,
                       StageChanges(deps_.store, how, *before));
      if (staged.has_value()) return *staged;
    }
  }
  return Stage(deps_.store, how);
}

StageOptions Staging::HowToStage(const WorldPtr& world) const {
  // The mounts may have changed since the cook began.
  const project::Project& project = *world->project;
  StageOptions options{.by_the_book = options_.by_the_book,
                       .exact = options_.rules.exact,
                       .package_of = [this, world](std::string_view path) {
                         return PackageOfPath(*world->project, deps_.notes.done(), path);
                       }};
  if (options_.by_the_book) return options;
  for (const std::string& package : deps_.notes.FailedPackages())
    options.failed_packages.push_back(StagePath(project, package));
  const ProjectCatalog& table = *world->table;
  options.packages_beside =
      PackagesBeside(project, table.names(), table.GeneratedNames(), options.failed_packages);
  return options;
}

// Returns "desktop and mobile are published and were not staged".
std::string Staging::NotStagedText(const std::map<std::string, Digest>& roots) const {
  std::vector<std::string> names;
  for (const auto& [platform, root] : roots) {
    const auto staged = staged_.find(platform);
    if (staged == staged_.end() || staged->second != root) names.push_back(platform);
  }
  return names.size() == 1
             ? fmt::format("{} is published and was not staged", names.front())
             : fmt::format("{} are published and were not staged", absl::StrJoin(names, ", "));
}

std::string Staging::StageAll(const std::map<std::string, Digest>& roots, const WorldPtr& world) {
  errors_.clear();
  if (const absl::Status mine = deps_.may_write(); !mine.ok()) {
    errors_[""] = MessageOf(mine);
    return "";
  }
  const absl::Time begin = absl::Now();
  world_ = world->number;
  StageOptions how = HowToStage(world);
  // The next cook takes up a sandbox where an interrupt left it.
  is_published_ = true;
  std::string loss;
  std::atomic<bool> is_interrupted = false;
  const Cancellation::Hook hook(&deps_.stop, [&] { is_interrupted = true; });
  how.interrupted = &is_interrupted;
  for (const auto& [platform, root] : roots) {
    const auto before = staged_.find(platform);
    if (before != staged_.end() && before->second == root) continue;
    const absl::Status staged = StageOne(platform, root, how).status();
    if (staged.ok()) staged_[platform] = root;
    if (absl::IsCancelled(staged) && deps_.stop.is_cancelled()) {
      stopped_ = Interrupted(fmt::format("{}; {}: `galley cook` stages what is left",
                                         MessageOf(staged), NotStagedText(roots)));
      loss.clear();
      break;
    }
    if (staged.ok()) continue;
    errors_[platform] = MessageOf(staged);
    if (absl::IsDataLoss(staged) && loss.empty())
      loss = fmt::format("{}: {}", platform, MessageOf(staged));
  }
  time_ += absl::Now() - begin;
  return deps_.stop.is_cancelled() ? "" : loss;
}

void Staging::TellFailures() {
  for (const auto& [platform, error] : errors_) {
    has_failed_ = true;
    const std::string_view advice =
        platform.empty()
            ? ""
            : "; its root is published: fix this and cook again, which stages what is left";
    deps_.notes.Tell(CookEvent::Failed{
        "", platform, {.stage = Stage::kStage, .error = fmt::format("{}{}", error, advice)}});
  }
}

}  // namespace galley::director
