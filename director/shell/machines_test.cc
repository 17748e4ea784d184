#include "director/shell/machines.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(MachinesTest, AllThatComeFromOneAddressAreOnOneMachine) {
  Machines machines;
  EXPECT_EQ(machines.Find("node7", "ipv4:10.0.0.7:4711"), "node7");
  EXPECT_EQ(machines.Find("node8", "ipv4:10.0.0.7:4712"), "node7") << "it says what it likes";
  EXPECT_EQ(machines.Find("node8", "ipv4:10.0.0.8:4711"), "node8");
  EXPECT_EQ(machines.Find("node9", "ipv6:%5Bfd00::9%5D:4711"), "node9");
  EXPECT_EQ(machines.Find("other", "ipv6:%5Bfd00::9%5D:4712"), "node9");
}

TEST(MachinesTest, ThroughATunnelTheirWordIsAllThereIs) {
  Machines machines;
  for (const char* peer :
       {"unix:/run/galley.sock", "unix:", "ipv4:127.0.0.1:4711", "ipv6:%5B::1%5D:4711", ""}) {
    EXPECT_EQ(machines.Find("node7", peer), "node7") << peer;
    EXPECT_EQ(machines.Find("node8", peer), "node8") << peer;
  }
}

TEST(MachinesTest, ThoseThatSayNothingAreOnOne) {
  Machines machines;
  EXPECT_EQ(machines.Find("", "unix:"), machines.Find("\xff\xfe", "unix:"));
}

}  // namespace
}  // namespace galley::director
