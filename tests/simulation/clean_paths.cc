#include "tests/simulation/clean_paths.h"

#include <algorithm>

#include "tests/simulation/clean_asks.h"
#include "tests/simulation/device_worlds.h"

namespace galley::simulation {
namespace {

constexpr std::string_view kOutput = ".out";

void AddFailure(const CleanAsk& clean, CleanPath& path) {
  path.errors.insert(clean.errors.begin(), clean.errors.end());
  path.is_poison |= clean.is_poison;
}

// A generator is cooked as a package that somebody asks for; then its list counts.
bool IsListed(const World& world, const Files& files, const std::string& generator,
              const std::string& platform, CleanPath& path) {
  AddFailure(CleanAskOf(world, files, generator, platform), path);
  if (path.fails()) return false;
  const std::vector<std::string>& generated = world.In(files.at(generator)).generated;
  return std::ranges::find(generated, path.package.substr(generator.size() + 1)) != generated.end();
}

}  // namespace

CleanPath CleanPathOf(const World& world, const Files& files, const std::string& path,
                      const std::string& platform) {
  CleanPath clean;
  const std::string name = "/" + path;
  if (DeviceWorlds::IsPlain(name)) {
    const Files plain = DeviceWorlds::PlainFilesOf(files);
    const auto file = plain.find(name);
    if (file == plain.end()) return clean;
    clean.package = name;
    clean.file = Digest::Of(file->second);
    return clean;
  }
  if (!name.ends_with(kOutput)) return clean;
  const std::string package = name.substr(0, name.size() - kOutput.size());
  const std::string source = package.substr(0, package.find("/_gen/"));
  const auto file = files.find(source);
  if (file == files.end()) return clean;
  clean.package = package;
  clean.is_never_cooked = world.In(file->second).is_never_cooked;
  if (clean.is_never_cooked) {
    clean.errors = {"is never cooked"};
    return clean;
  }
  if (source != package && !IsListed(world, files, source, platform, clean)) return clean;
  AddFailure(CleanAskOf(world, files, package, platform), clean);
  clean.file = Digest::Of(world.Expected(package, platform, files));
  return clean;
}

}  // namespace galley::simulation
