/** What the page of an account's settings says. */
export const settings = {
  title: 'Settings',
  about: (account: string) => `What holds for ${account}.`,
  limits: 'Limits',
  limitsAbout: 'They protect the deployment; operators change them.',
  calls: 'Calls at the same time',
  inbound: 'Calls answered at the same time',
  tasks: 'Call tasks at the same time',
  tasksHint: 'Empty: 1 on shared lines, 10 with a number of its own.',
  calling: 'Calling',
  region: 'Region',
  regionHint: 'How national numbers in the text of a task are read. Two letters, such as US.',
  number: 'Number that callees see',
  shared: 'The shared lines',
  noNumbers: 'The account has no number of its own; operators enter them.',
  saved: 'Saved',
  readOnly: 'You may read these settings, not change them.',
} as const;
