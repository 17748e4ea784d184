#include "director/resident/cook_ahead.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "director/core/packages/package_data.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using devices::AheadKey;
using devices::AheadPlan;

constexpr std::string_view kUnused = "no device has asked for ten minutes";

devices::AheadLimits LimitsOf(const CookAhead::Settings& settings) {
  return {.bytes_max = devices::AheadLimits::BytesMaxOf(settings.store_bytes_max)};
}

// "de" of "/Game/L10N/de/ui/logo.png"; empty: the package is of no culture.
std::string_view CultureOf(const project::Project& project, std::string_view package) {
  constexpr std::string_view kFolder = "/L10N/";
  for (const content::Mount& mount : project.mounts) {
    if (!content::IsUnder(package, mount.path)) continue;
    const std::string_view below = package.substr(mount.path.size());
    if (!below.starts_with(kFolder)) continue;
    const std::string_view rest = below.substr(kFolder.size());
    return rest.substr(0, rest.find('/'));
  }
  return "";
}

// The name of a generated package, from the stage path of one of its generator's files.
std::string GeneratedName(const project::Project& project, const std::string& generator,
                          const std::string& stage_path) {
  return generator + stage_path.substr(StagePath(project, generator).size());
}

uint64_t BytesOf(const record::Result& result) {
  uint64_t bytes = 0;
  for (const record::Output& output : result.outputs) bytes += output.digest.size_bytes();
  return bytes;
}

}  // namespace

CookAhead::CookAhead(Deps deps, Settings settings)
    : deps_(std::move(deps)),
      settings_(std::move(settings)),
      plan_(devices::AheadPlanOptions()),
      ledger_(LimitsOf(settings_)) {}

// ------------------------------------------------------------------ any thread

void CookAhead::NoteAsked(const std::string& platform, const std::string& package) {
  if (!settings_.is_on) return;
  if (notes_.Note(platform, package)) deps_.wake_at(deps_.now() + kBatchLength);
}

AheadFigures CookAhead::figures() const {
  base::MutexLock lock(mutex_);
  return figures_;
}

void CookAhead::Publish() {
  AheadFigures figures{.counts = ledger_.counts(),
                       .unasked = ledger_.unasked(),
                       .waiting = plan_.waiting(),
                       .open = plan_.open(),
                       .slot_time_spent = ledger_.slot_time_spent(),
                       .bytes_spent = ledger_.bytes_spent(),
                       .pause = pause_};
  base::MutexLock lock(mutex_);
  figures_ = std::move(figures);
}

// ------------------------------------------------------------------ what others do

void CookAhead::NoteWanted(const std::string& platform, const std::string& package) {
  if (!settings_.is_on) return;
  const AheadKey key{package, platform};
  plan_.Drop(key);
  CloseAsk(key);
}

void CookAhead::NoteResult(const std::string& platform, const std::string& package,
                           const PackageFiles& files) {
  if (settings_.is_on && files.key) ledger_.Settle({package, platform}, *files.key);
}

void CookAhead::NoteUsed(const std::string& platform, const std::string& package,
                         const Digest& action_key) {
  if (settings_.is_on) ledger_.Ask({package, platform}, action_key);
}

void CookAhead::OnWorld(const WorldDifference& difference, const StalePackages& stale) {
  if (!settings_.is_on) return;
  if (difference.is_all) {
    plan_.ChangeAll();
    ledger_.ChangeAll();
    return;
  }
  plan_.Change(difference.packages);
  ledger_.Change(difference.packages);
  std::vector<AheadKey> keys;
  for (const auto& [platform, packages] : stale) {
    for (const std::string& package : packages) keys.push_back({package, platform});
  }
  plan_.AddStale(keys);
}

void CookAhead::End() {
  has_ended_ = true;
  due_at_ = absl::InfiniteFuture();
  for (const auto& [key, open] : std::exchange(asks_, {})) deps_.present.Withdraw(open.ask);
}

void CookAhead::CloseAsk(const AheadKey& key) {
  const auto open = asks_.find(key);
  if (open == asks_.end()) return;
  deps_.present.Withdraw(open->second.ask);
  asks_.erase(open);
}

// ------------------------------------------------------------------ what was asked for

void CookAhead::TakeAsked(absl::Time now) {
  const std::vector<AheadKey> asked = notes_.Take();
  if (asked.empty()) return;
  last_asked_at_ = now;
  const ShownWorldPtr shown = deps_.shared.present();
  if (shown == nullptr) return;
  LookAtCultures();
  for (const AheadKey& key : asked) TakeOneAsked(*shown, key);
}

void CookAhead::TakeOneAsked(const ShownWorld& shown, const AheadKey& key) {
  const PackageFilesPtr files = deps_.cooked.TableOf(key.platform)->Find(key.package);
  ledger_.Ask(key, files == nullptr ? std::nullopt : files->key);
  if (files == nullptr || plan_.IsIdleFor(key)) return;
  CloseAsk(key);
  const std::string_view culture = CultureOf(*shown.world->project, key.package);
  if (!culture.empty()) asked_cultures_.emplace(culture);
  AheadPlan::Asked asked{.key = key, .references = ReferencesOf(shown, key, *files)};
  for (const auto& [name, platform] : shown.platforms) asked.platforms.push_back(name);
  plan_.Ask(asked);
}

void CookAhead::LookAtCultures() {
  session_cultures_.clear();
  const auto audiences =
      deps_.shared.With([](devices::DeviceSessions& sessions) { return sessions.Audiences(); });
  for (const devices::Audience& audience : audiences)
    session_cultures_[audience.platform].insert(audience.cultures.begin(), audience.cultures.end());
}

bool CookAhead::IsCultureWanted(const ShownWorld& shown, const AheadKey& key) const {
  const std::string culture(CultureOf(*shown.world->project, key.package));
  if (culture.empty() || asked_cultures_.contains(culture)) return true;
  const auto sessions = session_cultures_.find(key.platform);
  return sessions != session_cultures_.end() && sessions->second.contains(culture);
}

// Hard references first, then soft ones, then what it generates; and the variants of all these that
// sessions want. A session asks for the variants of its cultures where it reads a reference.
std::vector<std::string> CookAhead::ReferencesOf(const ShownWorld& shown, const AheadKey& key,
                                                 const PackageFiles& files) const {
  std::vector<std::string> references = files.needed;
  references.insert(references.end(), files.soft.begin(), files.soft.end());
  for (const std::string& stage_path : files.generated)
    references.push_back(GeneratedName(*shown.world->project, key.package, stage_path));
  const auto sessions = session_cultures_.find(key.platform);
  if (sessions == session_cultures_.end() || sessions->second.empty()) return references;
  const Cultures cultures =
      std::vector<std::string>(sessions->second.begin(), sessions->second.end());
  const size_t count = references.size();
  for (size_t i = 0; i < count; ++i) {
    for (std::string& variant : shown.world->table->VariantsOf(references[i], cultures))
      references.push_back(std::move(variant));
  }
  return references;
}

// ------------------------------------------------------------------ what begins

void CookAhead::Advance() {
  if (!settings_.is_on || has_ended_) return;
  const absl::Time now = deps_.now();
  TakeAsked(now);
  ledger_.Expire(now);
  due_at_ = absl::InfiniteFuture();
  LookAtPause(now);
  if (pause_.empty()) Begin(now);
  Publish();
}

AheadPlan::Judgement CookAhead::Judge(const ShownWorld& shown, const AheadKey& key) const {
  using Kind = AheadPlan::Judgement::Kind;
  const ShownPlatform* const platform = shown.Find(key.platform);
  if (platform == nullptr) return {Kind::kDrop};
  const ProjectCatalog& table = *shown.world->table;
  const std::string file = key.package.substr(0, key.package.find("/_gen/"));
  const std::optional<CatalogEntry> entry = table.Find(file);
  if (!entry || !entry->error.empty() || entry->never_cook) return {Kind::kDrop};
  if (!GeneratorName(key.package).empty() && table.IsNever(key.package)) return {Kind::kDrop};
  if (IsSmallCopy(shown, *platform, key.package)) return {Kind::kDrop};
  if (!IsCultureWanted(shown, key)) return {Kind::kDrop};
  const PackageFilesPtr files = deps_.cooked.TableOf(key.platform)->Find(key.package);
  if (files == nullptr || deps_.cooked.IsAnyLost(*files)) return {Kind::kCook};
  return {Kind::kKnown, ReferencesOf(shown, key, *files)};
}

void CookAhead::Begin(absl::Time now) {
  const ShownWorldPtr shown = deps_.shared.present();
  if (shown == nullptr || !plan_.has_waiting()) return;
  LookAtCultures();
  const size_t open_max =
      std::clamp<size_t>(2 * Slots(now), settings_.open_min, settings_.open_max);
  while (asks_.size() < open_max) {
    const std::optional<AheadKey> key =
        plan_.TakeNext([&](const AheadKey& one) { return Judge(*shown, one); });
    if (!key) {
      // Many are known already: the next turn goes on.
      if (plan_.has_waiting()) due_at_ = now;
      return;
    }
    if (!AskFor(*key, now)) return;
  }
}

// False: the workers rest, or too many wait.
bool CookAhead::AskFor(const AheadKey& key, absl::Time now) {
  const uint64_t number = ++last_number_;
  const absl::StatusOr<uint64_t> ask = deps_.present.AskAhead(
      key.package, key.platform, [this, key, number](const AskOutcome& outcome) {
        deps_.post([this, key, number, outcome] { TakeOutcome(key, number, outcome); });
      });
  if (!ask.ok()) {
    plan_.PutBack(key);
    Pause(MessageOf(ask.status()), now + kRestInterval);
    return false;
  }
  asks_[key] = {.number = number, .ask = *ask};
  return true;
}

uint64_t CookAhead::Slots(absl::Time now) {
  if (settings_.slots && now >= slots_at_ + kSlotsInterval) {
    slots_ = settings_.slots();
    slots_at_ = now;
  }
  return slots_;
}

// ------------------------------------------------------------------ pauses

void CookAhead::Pause(const std::string& why, absl::Time until) {
  held_why_ = why;
  held_until_ = until;
  pause_ = why;
  due_at_ = until;
}

bool CookAhead::IsStoreFull() const {
  const uint64_t bytes_max = settings_.store_bytes_max;
  const bool has_limit = devices::AheadLimits::HasLimit(bytes_max);
  return has_limit && settings_.store_bytes && settings_.store_bytes() > bytes_max - bytes_max / 32;
}

// Says why nothing begins now.
void CookAhead::LookAtPause(absl::Time now) {
  pause_.clear();
  if (!plan_.has_waiting()) return;
  if (now < held_until_) {
    pause_ = held_why_;
    due_at_ = held_until_;
    return;
  }
  if (now >= last_asked_at_ + kUseLength) {
    pause_ = std::string(kUnused);  // the next ask ends it
    return;
  }
  if (ledger_.IsSlotTimeSpent(Slots(now))) {
    pause_ = fmt::format(
        "within an hour, {} of work in slots was for packages that nobody has "
        "asked for",
        absl::FormatDuration(ledger_.slot_time_spent()));
    due_at_ = ledger_.expires_at();
  } else if (ledger_.AreBytesSpent()) {
    pause_ = fmt::format("within a day, {} were made that nobody has asked for",
                         HumanBytes(ledger_.bytes_spent()));
    due_at_ = ledger_.expires_at();
  } else if (IsStoreFull()) {
    pause_ = "the store is nearly as large as [store] max_size";
    due_at_ = now + kRestInterval;
  }
  if (!pause_.empty()) TellPause(now);
}

// Once in an hour for each reason: a budget that is nearly spent begins and ends many pauses. The
// amounts in the text change while the reason is the same.
void CookAhead::TellPause(absl::Time now) {
  const std::string reason = pause_.substr(0, pause_.find(','));
  absl::Time& told_at = told_.try_emplace(reason, absl::InfinitePast()).first->second;
  if (now < told_at + kTellInterval) return;
  told_at = now;
  LogInfo("cooking ahead pauses: {}", pause_);
}

// ------------------------------------------------------------------ outcomes

void CookAhead::TakeOutcome(const AheadKey& key, uint64_t number, const AskOutcome& outcome) {
  const auto open = asks_.find(key);
  // Somebody has asked for it meanwhile, and gets the outcome.
  if (open == asks_.end() || open->second.number != number) return;
  asks_.erase(open);
  if (const auto* done = std::get_if<AskSucceeded>(&outcome)) return TakeSuccess(key, *done);
  if (const auto* failed = std::get_if<AskFailed>(&outcome)) return TakeFailure(key, *failed);
  const auto& aborted = std::get<AskAborted>(outcome);
  if (aborted.has_shell_ended) {
    plan_.PutBack(key);
  } else {
    plan_.Drop(key);  // the same fault would hold up all others
  }
  Pause(aborted.reason, deps_.now() + (aborted.has_shell_ended ? kRestInterval : kFaultInterval));
}

// After a look whether there is a newer world.
bool CookAhead::IsPresent(const WorldPtr& world) {
  const auto is_present = [&] {
    const ShownWorldPtr shown = deps_.shared.present();
    return shown != nullptr && shown->world == world;
  };
  if (is_present()) return true;
  deps_.follow();
  return is_present();
}

void CookAhead::TakeSuccess(const AheadKey& key, const AskSucceeded& done) {
  const StoredResult& stored = *done.result;
  const bool is_present = IsPresent(done.world);
  if (is_present && stored.result.is_verdict) {
    ledger_.Spend(done.ran_for, deps_.now());
    return plan_.Fail(key);
  }
  const bool is_taken =
      is_present && deps_.take_result(done.world, key.platform, key.package, stored);
  // A job that ran is paid for, also when files have changed since.
  if (done.ran_for > absl::ZeroDuration()) {
    ledger_.Make(key, stored.action_key,
                 {.slot_time = done.ran_for, .bytes = BytesOf(stored.result)}, deps_.now());
  }
  if (!is_taken) {
    ledger_.Change({&key.package, 1});
    plan_.PutBack(key);
    Pause("the project changes", deps_.now() + kWorldInterval);
    return;
  }
  const ShownWorldPtr shown = deps_.shared.present();
  const PackageFilesPtr files = deps_.cooked.TableOf(key.platform)->Find(key.package);
  plan_.Succeed(key,
                files == nullptr ? std::vector<std::string>() : ReferencesOf(*shown, key, *files));
}

void CookAhead::TakeFailure(const AheadKey& key, const AskFailed& failed) {
  if (failed.is_infrastructure()) {
    plan_.Drop(key);
    Pause(failed.error, deps_.now() + kFaultInterval);
  } else if (IsPresent(failed.world)) {
    plan_.Fail(key);
  } else {
    plan_.PutBack(key);
    Pause("the project changes", deps_.now() + kWorldInterval);
  }
}

}  // namespace galley::director
