#include "tests/simulation/asking_stage.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/digest.h"
#include "common/content/changes.h"
#include "tests/simulation/clean_asks.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a client of it

namespace {

constexpr uint64_t kAsksMax = 8;
// Cooks begin within 3 s, and trouble comes within 4 s.
constexpr int kPlannedMs = 5'000;
constexpr int kLeavesWithinMs = 600;
// Ahead of need.
constexpr uint64_t kAheadMax = 8, kAheadAloneMax = 3;
constexpr int kAloneMs = 500;
// The limit of the changes of one file under attempts (CookOptions::stale_max).
constexpr uint64_t kChangesMax = 3;

}  // namespace

AskingStage::AskingStage(const Options& options, World world, uint64_t seed_of_asks)
    : CooksStage(options, std::move(world)),
      draws_(seed_of_asks),
      ahead_draws_(seed_of_asks * 13 + 5),
      names_(world_->packages.size()) {}

// The director tells its clients that it ends.
AskingStage::~AskingStage() { director_.reset(); }

// ------------------------------------------------------------------ clients

void AskingStage::PlanAsks() {
  for (uint64_t i = 1 + draws_.Below(kAsksMax); i > 0; --i) {
    ++planned_;
    schedule().After(draws_.Some(kPlannedMs), [this] {
      --planned_;
      BeginNow(RandomTarget());
    });
  }
  PlanAhead(1 + ahead_draws_.Below(kAheadMax), kPlannedMs);
}

void AskingStage::PlanAhead(uint64_t count, int within_ms) {
  for (; count > 0; --count) {
    ++planned_;
    schedule().After(ahead_draws_.Some(within_ms), [this] {
      --planned_;
      const uint64_t number = Begin(AheadTarget(), /*is_ahead=*/true);
      if (ahead_draws_.Percent(20))
        schedule().After(ahead_draws_.Some(kLeavesWithinMs), [this, number] { Withdraw(number); });
    });
  }
}

// Often what a device has asked for, on some platform.
AskingStage::Target AskingStage::AheadTarget() {
  const uint64_t what = ahead_draws_.Below(100);
  Target target{.package = World::NameOf(ahead_draws_.Below(names_)),
                .platform = kPlatforms[ahead_draws_.Below(kPlatforms.size())]};
  if (what < 35 && !last_target_.package.empty()) target.package = last_target_.package;
  if (what >= 35 && what < 50) target.package += ahead_draws_.Percent(50) ? "/_gen/a" : "/_gen/b";
  return target;
}

AskingStage::Target AskingStage::RandomTarget() {
  const uint64_t what = draws_.Below(100);
  if (what < 15 && !last_target_.package.empty()) return last_target_;
  std::string package = World::NameOf(draws_.Below(names_));
  if (what >= 15 && what < 35) package += draws_.Percent(50) ? "/_gen/a" : "/_gen/b";
  if (what >= 95) package = "/Game/missing";
  return {.package = std::move(package), .platform = kPlatforms[draws_.Below(kPlatforms.size())]};
}

AskingStage::Target AskingStage::TargetAmong(const std::vector<std::string>& edited) {
  Target target = RandomTarget();
  if (!edited.empty() && draws_.Percent(60)) {
    target.package = edited[draws_.Below(edited.size())];
    if (draws_.Percent(20)) target.package += "/_gen/a";
  }
  if (do_platforms_change_ && draws_.Percent(20)) target.platform = "p2";
  return target;
}

uint64_t AskingStage::Begin(const Target& target, bool is_ahead) {
  const uint64_t number = ++last_;
  open_[number] = {.target = target, .is_ahead = is_ahead};
  ++ask_counts_.asked;
  ask_counts_.ahead += is_ahead;
  checks().Trace((is_ahead ? "a client may ask for " : "a client asks for ") + target.package +
                     " on " + target.platform,
                 number);
  Submit(number);
  return number;
}

void AskingStage::BeginNow(const Target& target) {
  last_target_ = target;
  const uint64_t number = Begin(target, /*is_ahead=*/false);
  if (draws_.Percent(25))
    schedule().After(draws_.Some(kLeavesWithinMs), [this, number] { Withdraw(number); });
}

void AskingStage::Submit(uint64_t number) {
  if (director_ == nullptr) return;
  Open& one = open_.at(number);
  const auto hear = [this, number](const AskOutcome& outcome) { Hear(number, outcome); };
  const absl::StatusOr<uint64_t> asker =
      one.is_ahead ? director_->asks().AskAhead(one.target.package, one.target.platform, hear)
                   : director_->asks().Ask(one.target.package, one.target.platform, hear);
  if (!asker.ok()) return checks().Break("safety: an ask is refused: " + asker.status().ToString());
  one.asker = *asker;
}

void AskingStage::Withdraw(uint64_t number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  checks().Trace("a client leaves", number);
  const uint64_t asker = found->second.asker;
  open_.erase(found);
  ++ask_counts_.withdrawn;
  if (asker != 0 && director_ != nullptr) director_->asks().Withdraw(asker);
}

// The clients of the last director ask this one.
void AskingStage::RequestCook() {
  CooksStage::RequestCook();
  for (const auto& [number, one] : open_) Submit(number);
}

// ------------------------------------------------------------------ what clients hear

void AskingStage::Hear(uint64_t number, const AskOutcome& outcome) {
  const auto found = open_.find(number);
  if (found == open_.end())
    return checks().Break("safety: a client is answered that left or was answered before");
  const auto* aborted = std::get_if<AskAborted>(&outcome);
  if (aborted != nullptr && aborted->has_shell_ended) {
    if (director_ != nullptr) checks().Break("safety: an ask ends, but its director does not");
    found->second.asker = 0;
    ++ask_counts_.again;
    return;
  }
  const Target target = found->second.target;
  open_.erase(found);
  checks().Trace("a client is answered", number, outcome.index());
  std::visit([&](const auto& one) { Check(target, one); }, outcome);
}

void AskingStage::Check(const Target& target, const AskSucceeded& done) {
  ++ask_counts_.succeeded;
  const std::string what = target.package + " on " + target.platform;
  const Files& files = tables_.at(done.world->table_file).files;
  const CleanAsk clean = CleanAskOf(*world_, files, target.package, target.platform);
  if (!clean.succeeds()) {
    return checks().Break("safety: an ask for " + what + " succeeds, and a clean cook fails: " +
                          (clean.is_poison ? "it is poison" : *clean.errors.begin()));
  }
  const std::vector<record::Output>& outputs = done.result->result.outputs;
  const Digest expected = Digest::Of(world_->Expected(target.package, target.platform, files));
  if (done.result->package != target.package || outputs.size() != 1 ||
      outputs[0].digest != expected)
    checks().Break("safety: an ask has other outputs than a clean cook: " + what);
}

void AskingStage::Check(const Target& target, const AskFailed& failed) {
  ++ask_counts_.failed;
  if (failed.is_infrastructure()) return;
  const Files& files = tables_.at(failed.world->table_file).files;
  const CleanAsk clean = CleanAskOf(*world_, files, target.package, target.platform);
  const bool has_used_up_attempts =
      failed.cause == FailureCause::kPackage || failed.cause == FailureCause::kLimit;
  const bool has_error = std::ranges::any_of(
      clean.errors, [&](const std::string& error) { return failed.error.starts_with(error); });
  const bool may_have_changed =
      edits() >= kChangesMax && failed.error.find("while it was cooked") != std::string::npos;
  if (has_used_up_attempts ? !clean.is_poison : !has_error && !may_have_changed)
    checks().Break("safety: an ask for " + target.package + " on " + target.platform +
                   " fails, and not as a clean cook does: " + failed.error);
}

void AskingStage::Check(const Target& target, const AskAborted& aborted) {
  const bool lacks_platform =
      do_platforms_change_ && aborted.reason.find("platform") != std::string::npos;
  const bool has_lost_much =
      (HasEverFired(Fault::kFilesDeleted) || HasEverFired(Fault::kSegmentLost)) &&
      aborted.reason.starts_with("the store loses");
  if (!lacks_platform && !has_lost_much)
    checks().Break("safety: an ask for " + target.package + " is given up: " + aborted.reason);
}

// ------------------------------------------------------------------ without cooks

void AskingStage::RunUntilAllEnded() {
  RunUntil([this] { return planned_ == 0 && open_.empty(); }, "an ask does not end");
}

void AskingStage::AskAlone() {
  RunUntilAllEnded();
  RunUntil([this] { return schedule().elapsed() > absl::Milliseconds(kPlannedMs); },
           "time stands still");
  const std::vector<std::string> edited = EditSome();
  if (draws_.Percent(50)) PlanPlatforms();
  for (uint64_t i = 2 + draws_.Below(3); i > 0; --i) {
    ++planned_;
    schedule().After(draws_.Some(kAloneMs), [this, edited] {
      --planned_;
      BeginNow(TargetAmong(edited));
    });
  }
  PlanAhead(ahead_draws_.Below(kAheadAloneMax + 1), kAloneMs);
  RunUntilAllEnded();
}

// No cook takes the edits in. Returns the names of the edited packages when the director has heard
// of all edits.
std::vector<std::string> AskingStage::EditSome() {
  const Files before = world_->files();
  for (uint64_t i = 1 + draws_.Below(2); i > 0; --i) Edit();
  RunUntil([this] { return director_ != nullptr && director_->files() == world_->files(); },
           "edits are not heard of");
  std::vector<std::string> edited;
  for (const content::Change& change : SimDirector::ChangesOf(before, world_->files()))
    edited.push_back(change.path);
  return edited;
}

void AskingStage::PlanPlatforms() {
  static const std::vector<std::vector<std::string>>& sets =
      *new std::vector<std::vector<std::string>>{
          {"p1", "p0"}, {"p2", "p0"}, {"p1"}, {"p0", "p1", "p2"}};
  do_platforms_change_ = true;
  for (uint64_t i = 1 + draws_.Below(2); i > 0; --i) {
    schedule().After(draws_.Some(kAloneMs), [this, set = sets[draws_.Below(sets.size())]] {
      if (director_ != nullptr) director_->ChangePlatforms(set);
    });
  }
}

}  // namespace galley::simulation
