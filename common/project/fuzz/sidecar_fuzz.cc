// A sidecar of any bytes, read and laid on the rules of a package: an error or recipes, never a
// crash.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/project/resolver.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using galley::record::SettingType;
  static const galley::project::Project& project = *[] {
    auto* made = new galley::project::Project();
    made->platforms = {{.name = "windows"}, {.name = "android"}};
    return made;
  }();
  static const galley::project::RecipeResolver& resolver = *new galley::project::RecipeResolver(
      project,
      {{.name = "copy", .identity = "1"},
       {.name = "texture",
        .identity = "1",
        .settings = {{.name = "mipmaps", .type = SettingType::kBool, .default_json = "true"},
                     {.name = "max_size", .type = SettingType::kInteger, .default_json = "0"},
                     {.name = "quality",
                      .type = SettingType::kChoice,
                      .default_json = "\"fast\"",
                      .choices = {"fast", "medium"}},
                     {.name = "list", .type = SettingType::kStringList, .default_json = "[]"},
                     {.name = "table", .type = SettingType::kTable, .default_json = "{}"}}}});
  const std::string sidecar(reinterpret_cast<const char*>(data), size);
  const auto body = galley::project::ParseSidecar(sidecar, "a.png.cook");
  // The resolver remembers recipes for ever: a process of a fuzzer's length must not give it
  // everything.
  if (body.ok() && size < 4096) {
    const auto recipes = resolver.Resolve("/Game/a.png", galley::project::Sidecar{sidecar});
    if (recipes.ok() && *recipes != nullptr) GALLEY_CHECK((*recipes)->size() == 2);
  }
  return 0;
}
