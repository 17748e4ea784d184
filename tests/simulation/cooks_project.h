// CooksProject: a project for the simulation of several cooks (several_cooks.h), as text that
// changes: packages with references of both kinds, generated packages, cooked inputs, verdicts, and
// packages that kill their executor, all of which may differ between platforms and versions.
//
// A cook of a package is a pure function of the project, so what any cook must come to is known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "director/core/catalog.h"
#include "director/core/events.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

inline constexpr director::PlatformIndex kCooksPlatforms = 2;

struct ProjectPackage {
  uint32_t version = 1;
  // By platform.
  std::vector<std::vector<record::Reference>> references;
  std::vector<std::string> generates;  // "_gen/a"
  std::vector<std::string> inputs;     // whose outputs its cook reads
  bool is_verdict = false;
  bool is_poison = false;
  bool is_never = false;
  bool has_resource = false;
  bool is_absent = false;  // there is no such file
  bool looks_at_environment = false;
};

struct CooksProject {
  std::map<std::string, ProjectPackage> packages;
  std::set<std::pair<std::string, std::string>> conflicts;  // over one path
  bool is_wide = false;
  std::string environment;  // the value of a variable

  // Few are wide: many packages that have nothing to do with each other.
  static CooksProject Make(Random& random);
  // Some packages are others from now on, or come and go. Returns their names.
  std::vector<std::string> Edit(Random& random);
  // A package, or what it generates. REQUIRES: its generator, if it has one, is there.
  const ProjectPackage& Of(const std::string& name) const;
  bool Has(const std::string& name) const;

 private:
  void EditOne(const std::string& name, uint32_t number, Random& random);
  void Fill(ProjectPackage& package, uint32_t number, Random& random);
};
using CooksProjectPtr = std::shared_ptr<const CooksProject>;

std::shared_ptr<const director::Catalog> CatalogOf(CooksProjectPtr project);

}  // namespace galley::simulation
