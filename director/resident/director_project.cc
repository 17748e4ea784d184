#include "director/resident/director_project.h"

#include <utility>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "director/host/named_programs.h"
#include "director/host/standing_facts.h"
#include "fmt/format.h"

namespace galley::director {

void DirectorProject::Attach(PresentWorld& world) {
  base::MutexLock lock(mutex_);
  world_ = &world;
}

void DirectorProject::SetListener(std::function<void()> changed) {
  base::MutexLock lock(listener_mutex_);
  changed_ = std::move(changed);
}

// Under the lock, so that nobody is called who has taken the listener away.
void DirectorProject::NoteChange() {
  base::MutexLock lock(listener_mutex_);
  if (changed_) changed_();
}

PresentWorld* DirectorProject::world() const {
  base::MutexLock lock(mutex_);
  return world_;
}

absl::StatusOr<WorldPtr> DirectorProject::Get() const {
  const PresentWorld* const present = world();
  if (present == nullptr) return absl::UnavailableError("the director begins");
  return present->Get();
}

absl::StatusOr<uint64_t> DirectorProject::Ask(std::string package, std::string platform,
                                              PackageAsks::Callback callback) {
  PresentWorld* const present = world();
  if (present == nullptr) return absl::UnavailableError("the director begins");
  return present->Ask(std::move(package), std::move(platform), std::move(callback));
}

absl::StatusOr<uint64_t> DirectorProject::AskAhead(std::string package, std::string platform,
                                                   PackageAsks::Callback callback) {
  PresentWorld* const present = world();
  if (present == nullptr) return absl::UnavailableError("the director begins");
  return present->AskAhead(std::move(package), std::move(platform), std::move(callback));
}

void DirectorProject::Withdraw(uint64_t ask) {
  if (PresentWorld* const present = world()) present->Withdraw(ask);
}

absl::StatusOr<Digest> DirectorProject::RulesOf(const World& world) const {
  const SetupPtr setup = director_.setup();
  if (setup->resolver != world.table->resolver())
    return absl::UnavailableError("the rules of the project are being taken up");
  ASSIGN_OR_RETURN(const Facts facts, FactsOf(*world.project, setup->cookers));
  std::string text;
  for (const Fact& fact : facts)
    text += fmt::format("{} {} {}\n", fact.name, fact.value.size(), fact.value);
  text += TextOfNamedPrograms(*world.project, tools_);
  return Digest::Of(text);
}

Digest DirectorProject::ProgramsOf(const World& world) const {
  return Digest::Of(TextOfNamedPrograms(*world.project, tools_));
}

}  // namespace galley::director
