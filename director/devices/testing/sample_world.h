// For tests: worlds of one project.
#pragma once

#include <string>

#include "common/base/digest.h"
#include "director/devices/device_world.h"

namespace galley::devices {

// World `number` of the sample project, for platform linux without cultures.
inline DeviceWorld SampleWorld(int number) {
  return {.project = "3f9a2c11",
          .platform = "linux",
          .cultures = {},
          .identity = Digest::Of("world " + std::to_string(number))};
}

}  // namespace galley::devices
