#include "director/core/instigators.h"

#include <array>

namespace galley::director {

Urgency UrgencyOf(InstigatorCategory category) {
  switch (category) {
    case InstigatorCategory::kStartupPackage:
    case InstigatorCategory::kCommandLinePackage:
    case InstigatorCategory::kCommandLineDirectory:
    case InstigatorCategory::kCookMap:
    case InstigatorCategory::kIniMapSection:
    case InstigatorCategory::kAlwaysCookMap:
      return Urgency::kHigh;
    case InstigatorCategory::kCookOnTheFly:
      return Urgency::kBlocking;
    case InstigatorCategory::kSpeculative:
      return Urgency::kLow;
    case InstigatorCategory::kHardDependency:
    case InstigatorCategory::kSoftDependency:
    case InstigatorCategory::kBuildDependency:
    case InstigatorCategory::kGeneratedPackage:
    case InstigatorCategory::kCulture:
    case InstigatorCategory::kAssetManagerModifyCook:
    case InstigatorCategory::kIterativeCook:
    case InstigatorCategory::kUnsolicited:
      return Urgency::kNormal;
  }
  return Urgency::kNormal;
}

std::string_view UrgencyName(Urgency urgency) {
  constexpr std::array<std::string_view, 4> kNames = {"low", "normal", "high", "blocking"};
  return kNames[static_cast<size_t>(urgency)];
}

std::string_view CategoryName(InstigatorCategory category) {
  constexpr std::array<std::string_view, 16> kNames = {"StartupPackage",
                                                       "CommandLinePackage",
                                                       "CommandLineDirectory",
                                                       "CookMap",
                                                       "IniMapSection",
                                                       "AlwaysCookMap",
                                                       "HardDependency",
                                                       "SoftDependency",
                                                       "BuildDependency",
                                                       "GeneratedPackage",
                                                       "Culture",
                                                       "AssetManagerModifyCook",
                                                       "IterativeCook",
                                                       "CookOnTheFly",
                                                       "Speculative",
                                                       "Unsolicited"};
  return kNames[static_cast<size_t>(category)];
}

}  // namespace galley::director
