#include "tests/simulation/clean_asks.h"

#include <algorithm>

#include "director/core/packages/package_data.h"

namespace galley::simulation {
namespace {

CleanAsk CleanCookOf(const World& world, const Files& files, const std::string& package);

// The generator's own references are not judged: its list counts.
CleanAsk GeneratedOf(const World& world, const Files& files, const std::string& package,
                     const std::string& generator) {
  const std::string unlisted = generator + " does not generate it";
  const std::string failed = "its generator ";
  const auto file = files.find(generator);
  if (file == files.end()) return {.errors = {"unknown package", failed, unlisted}};
  const WorldPackage& from = world.In(file->second);
  if (from.is_never_cooked) return {.errors = {failed, unlisted}};
  if (!CleanCookOf(world, files, generator).succeeds()) return {.errors = {failed}};
  const std::string listed = package.substr(generator.size() + 1);
  if (std::ranges::find(from.generated, listed) == from.generated.end())
    return {.errors = {unlisted}};
  return {};
}

// Whether the package has a result.
CleanAsk CleanCookOf(const World& world, const Files& files, const std::string& package) {
  const std::string generator(director::GeneratorName(package));
  if (!generator.empty()) return GeneratedOf(world, files, package, generator);
  const auto file = files.find(package);
  if (file == files.end()) return {.errors = {"unknown package"}};
  const WorldPackage& loaded = world.In(file->second);
  if (loaded.is_never_cooked) return {.errors = {"is never cooked"}};
  if (loaded.IsPoison()) return {.errors = {}, .is_poison = true};
  CleanAsk clean;
  for (const std::string& input : loaded.cooked_inputs) {
    if (!CleanCookOf(world, files, input).succeeds()) clean.errors.insert("cooked input " + input);
  }
  if (loaded.is_verdict) clean.errors.insert("wrong input");
  return clean;
}

// Whether a package that is generated is listed is not judged by asks.
bool LeadsNowhere(const World& world, const Files& files, const std::string& path) {
  const size_t generated = path.rfind("/_gen/");
  const auto file = files.find(path.substr(0, generated));
  if (file == files.end()) return true;
  return generated == std::string::npos && world.In(file->second).is_never_cooked;
}

}  // namespace

CleanAsk CleanAskOf(const World& world, const Files& files, const std::string& package,
                    const std::string& platform) {
  CleanAsk clean = CleanCookOf(world, files, package);
  if (!clean.succeeds() || World::IsGenerated(package)) return clean;
  std::set<std::string> nowhere;
  for (const record::Reference& one : world.In(files.at(package)).ReferencesOn(platform)) {
    if (one.kind == record::ReferenceKind::kHard && LeadsNowhere(world, files, one.path))
      nowhere.insert(one.path);
  }
  if (nowhere.size() == 1) clean.errors.insert("refers to '");
  if (nowhere.size() > 1)
    clean.errors.insert(std::to_string(nowhere.size()) + " references lead nowhere");
  return clean;
}

}  // namespace galley::simulation
