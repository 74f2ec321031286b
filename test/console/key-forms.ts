/** What people type into the form of a key. */
export const newKey = { name: "Dashboard", access: "all", budget: "25" }
