// SimPresent: what devices need of a SimDirector (PresentProject): the present world, and packages
// that are asked for. Plain files (device_worlds.h), which the core does not know, are "cooked" by
// SimPresent itself: their bytes are put into the store.
//
// Callbacks of a director that has died reach nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "director/resident/present_project.h"
#include "tests/simulation/device_worlds.h"
#include "tests/simulation/schedule.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

class SimPresent final : public director::PresentProject {
 public:
  // Everything in Deps outlives SimPresent.
  struct Deps {
    SimDirector& director;
    DeviceWorlds& worlds;
    Schedule& schedule;
    Random& draws;
  };
  explicit SimPresent(const Deps& deps) : deps_(deps) {}

  // Until then the world is not ready.
  void BeReady() { is_ready_ = true; }

  absl::StatusOr<director::WorldPtr> Get() const override;
  absl::StatusOr<uint64_t> Ask(std::string package, std::string platform,
                               director::PackageAsks::Callback callback) override;
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                    director::PackageAsks::Callback callback) override;
  void Withdraw(uint64_t ask) override;
  absl::StatusOr<Digest> RulesOf(const director::World& world) const override;
  Digest ProgramsOf(const director::World&) const override { return Digest(); }

 private:
  director::WorldPtr Present() const;
  director::WorldPtr WorldOf(const director::WorldPtr& told) const;
  void PutPlainFiles() const;
  director::PackageAsks::Callback Translated(director::PackageAsks::Callback callback) const;
  director::AskOutcome Translate(const director::AskOutcome& outcome) const;
  uint64_t AskForPlain(const std::string& package, const std::string& platform,
                       director::PackageAsks::Callback callback);
  director::AskOutcome CopyPlain(const std::string& package, const std::string& platform) const;

  const Deps deps_;
  bool is_ready_ = false;
  uint64_t last_plain_ = 0;
  std::set<uint64_t> plain_;  // asks for plain files that wait
  // By the name of the snapshot's table.
  mutable std::map<std::string, director::WorldPtr> worlds_;
  std::shared_ptr<bool> life_ = std::make_shared<bool>(true);
};

}  // namespace galley::simulation
