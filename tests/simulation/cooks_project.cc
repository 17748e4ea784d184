#include "tests/simulation/cooks_project.h"

#include <algorithm>

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

std::string NameOf(uint32_t number) { return "/P" + std::to_string(number); }

class ProjectCatalog : public Catalog {
 public:
  explicit ProjectCatalog(CooksProjectPtr project) : project_(std::move(project)) {}

  std::optional<CatalogEntry> Find(std::string_view name) const override {
    const auto found = project_->packages.find(std::string(name));
    if (found == project_->packages.end() || found->second.is_absent) return std::nullopt;
    CatalogEntry entry{.never_cook = found->second.is_never};
    if (found->second.has_resource) entry.resources = {{"gpu", 1}};
    return entry;
  }
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  CatalogEntry Generated(std::string_view, std::string_view, std::string_view) const override {
    return {};
  }
  ReferenceTarget Resolve(std::string_view, std::string_view written) const override {
    const std::string base(written.substr(0, written.rfind("/_gen/")));
    const auto found = project_->packages.find(base);
    const bool is_there = found != project_->packages.end() && !found->second.is_absent;
    return {.name = std::string(written), .error = is_there ? "" : "no such file"};
  }

 private:
  const CooksProjectPtr project_;
};

}  // namespace

CooksProject CooksProject::Make(Random& random) {
  CooksProject project;
  const bool is_wide = random.Percent(5);
  const auto count = static_cast<uint32_t>(4 + random.Below(16) + (is_wide ? 40 : 0));
  for (uint32_t i = 0; i < count; ++i) project.packages[NameOf(i)] = {};
  for (uint32_t i = 0; i < count; ++i) {
    ProjectPackage& package = project.packages[NameOf(i)];
    project.Fill(package, i, random);
    if (!is_wide) continue;
    package.references.assign(kCooksPlatforms, {});
    package.inputs.clear();
  }
  project.is_wide = is_wide;
  if (random.Percent(30) && count > 5) project.conflicts.insert({"/P2", "/P4"});
  return project;
}

void CooksProject::Fill(ProjectPackage& package, uint32_t number, Random& random) {
  const auto count = static_cast<uint32_t>(packages.size());
  const auto some = [&] { return static_cast<uint32_t>(random.Below(count)); };
  package.references.assign(kCooksPlatforms, {});
  for (uint64_t i = random.Below(4); i > 0; --i) {
    std::string path = random.Percent(3) ? "/Nowhere" : NameOf(some());
    if (random.Percent(10)) path += "/_gen/a";
    const record::Reference reference{
        path, random.Percent(30) ? record::ReferenceKind::kSoft : record::ReferenceKind::kHard};
    const bool is_of_one = random.Percent(20);
    const uint64_t one = random.Below(kCooksPlatforms);
    for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
      if (!is_of_one || p == one) package.references[p].push_back(reference);
    }
  }
  package.generates.clear();
  if (random.Percent(15)) package.generates.push_back("_gen/a");
  if (random.Percent(10)) package.generates.push_back("_gen/b");
  // Inputs have lower numbers: nobody waits for itself.
  package.inputs.clear();
  for (uint64_t i = random.Percent(30) ? 1 + random.Below(2) : 0; i > 0 && number > 0; --i)
    package.inputs.push_back(NameOf(static_cast<uint32_t>(random.Below(number))));
  std::sort(package.inputs.begin(), package.inputs.end());
  package.inputs.erase(std::unique(package.inputs.begin(), package.inputs.end()),
                       package.inputs.end());
  package.is_verdict = random.Percent(5);
  package.is_poison = random.Percent(3);
  package.is_never = random.Percent(3);
  package.has_resource = random.Percent(10);
}

std::vector<std::string> CooksProject::Edit(Random& random) {
  std::vector<std::string> names;
  for (uint64_t i = random.Percent(80) ? 1 : 2 + random.Below(3); i > 0; --i) {
    const auto number = static_cast<uint32_t>(random.Below(packages.size()));
    EditOne(NameOf(number), number, random);
    names.push_back(NameOf(number));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void CooksProject::EditOne(const std::string& name, uint32_t number, Random& random) {
  ProjectPackage& package = packages.at(name);
  const ProjectPackage before = package;
  const uint64_t what = random.Below(100);
  // (What a generator listed stays listed when its file is gone: other words for the same end.)
  if (what < 10 && package.generates.empty() && !package.is_never) {
    package.is_absent = !package.is_absent;
    return;
  }
  if (what < 60 && !is_wide) Fill(package, number, random);
  package.version = before.version + 1;
  package.is_never = before.is_never;  // a rule, not a file
  package.looks_at_environment = before.looks_at_environment;
  package.is_absent = false;
}

bool CooksProject::Has(const std::string& name) const {
  const size_t at = name.find("/_gen/");
  const auto found = packages.find(name.substr(0, at));
  if (found == packages.end() || found->second.is_absent) return false;
  const std::vector<std::string>& generates = found->second.generates;
  return at == std::string::npos ||
         std::find(generates.begin(), generates.end(), name.substr(at + 1)) != generates.end();
}

const ProjectPackage& CooksProject::Of(const std::string& name) const {
  static const ProjectPackage& generated = *new ProjectPackage{
      .references = std::vector<std::vector<record::Reference>>(kCooksPlatforms)};
  return name.find("/_gen/") == std::string::npos ? packages.at(name) : generated;
}

std::shared_ptr<const Catalog> CatalogOf(CooksProjectPtr project) {
  return std::make_shared<ProjectCatalog>(std::move(project));
}

}  // namespace galley::simulation
