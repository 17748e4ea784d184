// Samples with one of everything, for goldens.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/record/action.h"
#include "common/record/result.h"

namespace galley::record {

// EncodeSetOf for a set by itself.
inline std::string EncodeSet(const ObservationSet& set) {
  std::vector<Observed> observed;
  for (const Observation& what : set) observed.push_back({.what = what, .value = {}});
  return EncodeSetOf(*Canonical(std::move(observed)));
}

inline std::vector<Observed> SampleObserved() {
  return {{{ObservationKind::kFile, "../inc/common.glsl", ""}, Digest::Of("common").ToString()},
          {{ObservationKind::kFile, "/Game/inc/light.glsl", ""}, Digest::Of("light").ToString()},
          {{ObservationKind::kFile, "missing.glsl", ""}, "absent"},
          {{ObservationKind::kExists, "/Game/inc", ""}, "folder"},
          {{ObservationKind::kList, "/Game/maps", ""}, "a.level\nsub/\n"},
          {{ObservationKind::kGlob, "/Game/maps", "*.level"}, "a.level\n"},
          {{ObservationKind::kCooked, "/Game/atlas.png", ".ktx2"}, Digest::Of("ktx2").ToString()},
          {{ObservationKind::kPlatform, "shader", ""}, "=spirv-1.5"},
          {{ObservationKind::kTool, "/usr/bin/python3", ""}, Digest::Of("python").ToString()},
          {{ObservationKind::kTool, "tools/pack.py", ""}, Digest::Of("pack").ToString()},
          {{ObservationKind::kEnv, "PACK_LEVEL", ""}, "unset"},
          {{ObservationKind::kName, "", ""}, "/Game/shaders/sky.frag"}};
}

inline Recipe SampleRecipe() {
  return {.cooker = "shader",
          .identity = "1;glslang=11.13.0",
          .extension = "frag",
          .settings = R"({"include_dirs":["/Game/inc"],"optimize":true})"};
}

inline ActionInputs SampleInputs() {
  return {.recipe = SampleRecipe(),
          .source = Digest::Of("void main() {}"),
          .observed = SampleObserved(),
          .trust_domain = "main"};
}

inline Details SampleDetails() {
  return {.references = {{"../tex/wood.png", ReferenceKind::kHard},
                         {"/Game/a.level", ReferenceKind::kSoft},
                         {"/Game/a.level", ReferenceKind::kEditor}},
          .generated = {{"_gen/cell_0_1.level", Digest::Of("cell"), "data", R"({"cell_size":0})"},
                        {"_gen/image0.png", Digest::Of("png"), "", ""}},
          .tags = {{"has_alpha", true},
                   {"is_dynamic", false},
                   {"kind", "prop"},
                   {"mass", 12.5},
                   {"zero", 0.0}},
          .warnings = {"no normals", "", "no normals"}};
}

inline Result SampleResult() {
  return {.outputs = {{"", Digest::Of("plain"), true},
                      {".d/lod1.glb", Digest::Of("lod1"), false},
                      {".spv", Digest::Of("spv"), false}},
          .details = SampleDetails(),
          .is_verdict = false,
          .error = "",
          .log = Digest::Of("log"),
          .provenance = {.worker = "local-1",
                         .machine = "build-7",
                         .identity = "1;glslang=11.13.0",
                         .started = absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(5),
                         .load_time = absl::Milliseconds(3),
                         .save_time = absl::Seconds(2),
                         .memory_peak_bytes = 1 << 20}};
}

}  // namespace galley::record
